// ask(request) asks the engine and promises its answer, which may have come with the page. ENGINE says where that is: "file"
// (in this page), "server" (behind it), or the file to load. An answer with an error is
// thrown, as {en, zh}.
//
// There are two engines. What the player waits for goes to the first, and what can wait
// (ask(request, true)) to the second, so that neither holds the other up. leave() ends what
// both are doing: its promises are rejected with engine.left.
"use strict";
const engine = (() => {
  const everywhere = (why) => ({ en: why, zh: why });
  const left = everywhere("left");
  let compiled = null; // the engine, once one worker has compiled it

  async function content() {
    if (ENGINE === "file") return Uint8Array.from(atob(document.getElementById("engine").textContent.trim()), (c) => c.charCodeAt(0));
    const reply = await fetch(ENGINE);
    if (!reply.ok) throw new Error(ENGINE + ": " + reply.status);
    const parts = [], from = reply.body.getReader(), all = Number(reply.headers.get("content-length"));
    for (let got = 0, part; !(part = await from.read()).done;) {
      parts.push(part.value);
      loaded(got += part.value.length, all);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  }

  // behindServer asks the server; its second engine has a name in the query.
  function behindServer(path) {
    let asked = new AbortController();
    return {
      started: Promise.resolve(),
      async answer(text) {
        const { signal } = asked;
        try {
          return await (await fetch(path, { method: "POST", body: text, signal })).text();
        } catch (e) {
          throw signal.aborted ? left : everywhere(String(e));
        }
      },
      leave() { asked.abort(); asked = new AbortController(); },
    };
  }

  // inWorker asks an engine in a worker, which begins anew after what it did was left.
  function inWorker() {
    let waiting, worker, count = 0;
    function begin() {
      waiting = new Map();
      worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
      const of = waiting;
      return new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => {
          if (data.ready) { compiled ??= data.compiled; return resolve(); }
          const w = of.get(data.number);
          of.delete(data.number);
          if (!w) return reject(data.failed);
          data.failed ? w.reject(everywhere(data.failed)) : w.resolve(data.answer);
        };
        worker.onerror = (e) => reject(e.message);
        (async () => worker.postMessage(compiled ? { compiled } : { engine: await content() }))().catch(reject);
      });
    }
    const seat = {
      started: begin(),
      async answer(text) {
        await seat.started;
        return new Promise((resolve, reject) => {
          waiting.set(++count, { resolve, reject });
          worker.postMessage({ number: count, request: text });
        });
      },
      leave() {
        if (!waiting.size) return;
        worker.terminate();
        for (const w of waiting.values()) w.reject(left);
        seat.started = begin();
      },
    };
    return seat;
  }

  const first = ENGINE === "server" ? behindServer("answer") : inWorker();
  const { started } = first;
  started.catch(() => {}); // the page says why
  let second = null;
  const shipped = document.getElementById("known").textContent, known = unzipped(shipped); // answers that came with the page
  async function ask(request, aside = false) {
    const { do: what, link, harm, ...more } = request, key = [what, link, what === "at" ? undefined : harm, ...["number", "name", "lock", "race", "settings"].map((w) => more[w])].filter((w) => w || w === 0).join("|");
    const there = (await known)?.[key];
    if (there) return typeof there === "string" ? (await known)["at|" + there] : there;
    await started;
    if (aside) second ??= ENGINE === "server" ? behindServer("answer?aside") : inWorker();
    const value = JSON.parse(await (aside ? second : first).answer(JSON.stringify(request)));
    if (value && value.error) throw value.error;
    return value;
  }
  const leave = () => { first.leave(); second?.leave(); };
  return { started, ask, leave, left };
})();
