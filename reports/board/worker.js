// The engine in a worker. The first message brings it, compressed; each further one is a
// request with its number. wasm_exec.js stands above.
"use strict";
onmessage = async (event) => {
  const { number, request, engine } = event.data;
  if (engine) {
    try {
      const stream = new Blob([engine]).stream().pipeThrough(new DecompressionStream("gzip"));
      const bytes = await new Response(stream).arrayBuffer();
      const go = new Go();
      const { instance } = await WebAssembly.instantiate(bytes, go.importObject);
      go.run(instance); // it ends never
      postMessage({ ready: true });
    } catch (e) {
      postMessage({ failed: String(e) });
    }
    return;
  }
  try {
    postMessage({ number, answer: locklabAnswer(request) });
  } catch (e) {
    postMessage({ number, failed: String(e) });
  }
};
