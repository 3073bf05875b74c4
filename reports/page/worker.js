// The engine in a worker. The first message brings it, as gzip or compiled by another worker;
// each further one is a request with its number. wasm_exec.js stands above.
"use strict";
onmessage = async (event) => {
  const { number, request, engine, compiled } = event.data;
  if (engine || compiled) {
    try {
      const stream = engine && new Blob([engine]).stream().pipeThrough(new DecompressionStream("gzip"));
      const code = compiled ?? await WebAssembly.compile(await new Response(stream).arrayBuffer());
      const go = new Go();
      go.run(await WebAssembly.instantiate(code, go.importObject)); // it ends never
      postMessage({ ready: true, compiled: code });
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
