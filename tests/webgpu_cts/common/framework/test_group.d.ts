/** What specification files use of gpuweb/cts's test groups. */

export interface Runnable<F, P> {
  fn(body: (t: F & { readonly params: P }) => Promise<void> | void): void;
}

export interface Named<F> extends Runnable<F, {}> {
  desc(text: string): this;
  paramsSimple<P extends {}>(cases: Iterable<P>): Runnable<F, P>;
}

export interface Group<F> {
  test(name: string): Named<F>;
}

export function makeTestGroup<F>(fixture: new (...all: never[]) => F): Group<F>;
