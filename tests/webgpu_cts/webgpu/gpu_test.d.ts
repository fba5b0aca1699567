/** The fixture of gpuweb/cts that has a device. */

export class GPUTest {
  constructor(shared: object);
  readonly device: { readonly label: string };
}
