// ask(request) asks the engine and promises its answer. ENGINE says where that is: "file"
// (in this page), "server" (behind it), or the file to load. An answer with an error is
// thrown, as {en, zh}.
"use strict";
const engine = (() => {
  const waiting = new Map();
  let worker = null, count = 0, failed = "";
  const everywhere = (why) => ({ en: why, zh: why });

  const started = new Promise((resolve, reject) => {
    if (ENGINE === "server") return resolve();
    const begin = async () => {
      worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
      worker.onmessage = ({ data }) => {
        if (data.ready) return resolve();
        const w = waiting.get(data.number);
        waiting.delete(data.number);
        if (!w) return reject(data.failed);
        data.failed ? w.reject(everywhere(data.failed)) : w.resolve(data.answer);
      };
      worker.onerror = (e) => reject(e.message);
      worker.postMessage({ engine: await content() });
    };
    begin().catch(reject);
  });
  started.catch((why) => { failed = String(why); });

  async function content() {
    if (ENGINE === "file") {
      const text = atob(document.getElementById("engine").textContent.trim());
      const bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
      return bytes;
    }
    const reply = await fetch(ENGINE);
    if (!reply.ok) throw new Error(ENGINE + ": " + reply.status);
    return new Uint8Array(await reply.arrayBuffer());
  }

  async function ask(request) {
    await started;
    const text = JSON.stringify(request);
    let answer;
    if (ENGINE === "server") {
      try {
        answer = await (await fetch("answer", { method: "POST", body: text })).text();
      } catch (e) {
        throw everywhere(String(e));
      }
    } else {
      answer = await new Promise((resolve, reject) => {
        waiting.set(++count, { resolve, reject });
        worker.postMessage({ number: count, request: text });
      });
    }
    const value = JSON.parse(answer);
    if (value && value.error) throw value.error;
    return value;
  }
  return { started, ask, why: () => failed };
})();
