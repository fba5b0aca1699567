"use strict";
// The search of the site runs in a worker, and from a file browsers start none. There a frame without a page does its
// work instead: it has the script of the worker, and its messages go to and fro as a worker's do.
// Zensical knows such a script by "iframe-worker" in its name, and would load one from elsewhere if there were none.

if (location.protocol === "file:") {
  window.Worker = class {
    onmessage = null;
    onerror = null;
    #frame = document.createElement("iframe");
    #waiting = [];

    constructor(address) {
      this.#frame.hidden = true;
      document.body.append(this.#frame);
      const inner = this.#frame.contentWindow;
      inner.postMessage = (message) => {
        const data = structuredClone(message);
        setTimeout(() => this.onmessage?.({ data }));
      };
      const script = inner.document.createElement("script");
      script.onload = () => {
        const waiting = this.#waiting;
        this.#waiting = null;
        waiting.forEach((data) => inner.onmessage({ data }));
      };
      script.onerror = (event) => this.onerror?.(event);
      script.src = new URL(address, location.href);
      inner.document.body.append(script);
    }

    postMessage(message) {
      const data = structuredClone(message);
      if (this.#waiting) this.#waiting.push(data);
      else setTimeout(() => this.#frame.contentWindow?.onmessage({ data }));
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
