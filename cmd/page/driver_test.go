//go:build !js

package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"locklab/simulator/effort"
)

// A browser is Chromium, driven by its debugging protocol through a pipe.
type browser struct {
	t        *testing.T
	out      io.Writer
	id       atomic.Int64
	replies  chan reply
	session  string
	requests []string
	errors   []string
}

type reply struct {
	ID     int64
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// startBrowser starts Chromium, which CI installs, for a test of what is pushed.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	effort.OnlyPushed(t, "it drives a browser")
	path := installed(t, "chromium", "chromium-browser", "google-chrome")
	in, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir(), "about:blank")
	c.ExtraFiles = []*os.File{in, out}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said bytes.Buffer // Wait waits until all of the browser's processes have closed it, and so for their ends
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	b := &browser{t: t, out: toBrowser, replies: make(chan reply, 10_000)}
	t.Cleanup(func() {
		toBrowser.Close()
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
		if t.Failed() {
			t.Logf("the browser said: %s", &said)
		}
	})
	go func() {
		defer close(b.replies)
		for r := bufio.NewReader(fromBrowser); ; {
			message, err := r.ReadBytes(0)
			if err != nil {
				return
			}
			var got reply
			if json.Unmarshal(bytes.TrimSuffix(message, []byte{0}), &got) == nil {
				b.replies <- got
			}
		}
	}()
	var made struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call waits for the answer to one command, and keeps what is reported meanwhile.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	id := b.id.Add(1)
	m := map[string]any{"id": id, "method": method, "params": params}
	if params == nil {
		m["params"] = map[string]any{}
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	message, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.out.Write(append(message, 0)); err != nil {
		b.t.Fatal(err)
	}
	for r := range b.replies {
		if r.ID != id {
			b.note(&r)
			continue
		}
		if r.Error != nil {
			b.t.Fatalf("%s: %s", method, r.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(r.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
	b.t.Fatal("the browser has ended")
}

func (b *browser) note(r *reply) {
	switch r.Method {
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		_ = json.Unmarshal(r.Params, &p)
		b.requests = append(b.requests, p.Request.URL)
	case "Runtime.exceptionThrown", "Log.entryAdded":
		b.errors = append(b.errors, string(r.Params))
	case "Runtime.consoleAPICalled":
		var p struct{ Type string }
		_ = json.Unmarshal(r.Params, &p)
		if p.Type == "error" || p.Type == "warning" {
			b.errors = append(b.errors, string(r.Params))
		}
	}
}

func (b *browser) open(url string, width, height int) {
	b.t.Helper()
	b.narrow(width, height)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.wait(`typeof state === "object"`)
	b.do(`localStorage.clear(); state.lang = "en"; document.documentElement.dataset.theme = "light"; redraw()`)
}

// fileURL writes a page and returns its address.
func fileURL(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}

func (b *browser) narrow(width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500,
	}, nil)
}

// evaluate returns what an expression is, as JSON.
func (b *browser) evaluate(expression string) json.RawMessage {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil && !strings.HasPrefix(expression, "typeof") {
		return nil
	}
	return r.Result.Value
}

func (b *browser) do(expression string) { b.t.Helper(); b.evaluate(expression + "; 0") }
func (b *browser) is(expression string) bool {
	return string(b.evaluate("!!("+expression+")")) == "true"
}
func (b *browser) number(expression string) int {
	n := 0
	_ = json.Unmarshal(b.evaluate(expression), &n)
	return n
}

// wait waits until an expression is true: the engine works in another process.
func (b *browser) wait(expression string) {
	b.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if b.is(expression) {
			return
		}
		b.frames()
	}
	b.look("stuck")
	b.t.Fatalf("in vain: %s; the page says %s %v", expression,
		b.evaluate(`document.getElementById("message").textContent`), b.errors)
}

func (b *browser) key(key string) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		event := map[string]any{"type": kind, "key": key}
		if len(key) == 1 {
			event["text"] = key
		}
		if key == " " {
			event["code"], event["windowsVirtualKeyCode"] = "Space", 32
		}
		b.call("Input.dispatchKeyEvent", event, nil)
	}
}

// keys presses keys at one instant of the page, so that all of them wait in its line before the first is done.
func (b *browser) keys(keys string) {
	b.t.Helper()
	b.do(fmt.Sprintf(`for (const key of %q) document.body.dispatchEvent(new KeyboardEvent("keydown", { key,
		bubbles: true }))`, keys))
}

// A point is one of the window.
type point struct{ X, Y float64 }

// pointOf returns the middle of an element, which it brings into sight, once that has come to rest.
func (b *browser) pointOf(element string) (at point) {
	b.t.Helper()
	for before := (point{X: -1}); at != before; {
		before = at
		found := b.evaluate(fmt.Sprintf(`(() => { const e = %s; e.scrollIntoView({block: "center", inline: "center"});
			const r = e.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })()`, element))
		if err := json.Unmarshal(found, &at); err != nil {
			b.t.Fatalf("there is no %s", element)
		}
		b.frames()
	}
	return at
}

// frames waits until the page was drawn twice.
func (b *browser) frames() {
	b.t.Helper()
	b.call("Runtime.evaluate", map[string]any{
		"expression":   "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
		"awaitPromise": true,
	}, nil)
}

func (b *browser) mouse(kind string, at point, buttons int) {
	b.t.Helper()
	b.call("Input.dispatchMouseEvent", map[string]any{
		"type": kind, "x": at.X, "y": at.Y, "button": "left", "buttons": buttons, "clickCount": 1,
	}, nil)
}

// over moves the mouse onto an element. With the first move after a picture of the whole page was taken the page
// gets its scroll bar back, and so another width.
func (b *browser) over(element string) point {
	b.t.Helper()
	b.mouse("mouseMoved", b.pointOf(element), 0)
	at := b.pointOf(element)
	b.mouse("mouseMoved", at, 0)
	return at
}

// press clicks with the mouse on an element.
func (b *browser) press(element string) {
	b.t.Helper()
	b.rested() // what comes meanwhile may move the element
	at := b.over(element)
	b.mouse("mousePressed", at, 1)
	b.mouse("mouseReleased", at, 0)
}

// rested waits until a click makes a move again, see take in play.js.
func (b *browser) rested() {
	b.t.Helper()
	b.wait(`typeof state !== "object" || !(performance.now() - state.came < 400)`)
}

// click clicks with the mouse on the button with a label.
func (b *browser) click(label string) {
	b.t.Helper()
	b.press(fmt.Sprintf(`[...document.querySelectorAll("button")].find((e) => e.textContent === %q)`, label))
}

// drag drags an element to the right by so many pixels.
func (b *browser) drag(element string, by float64) {
	b.t.Helper()
	from := b.over(element)
	to := point{from.X + by, from.Y}
	b.mouse("mousePressed", from, 1)
	b.mouse("mouseMoved", point{from.X + by/2, from.Y}, 1)
	b.mouse("mouseMoved", to, 1)
	b.mouse("mouseReleased", to, 0)
}

// look saves a picture into the folder that LOCKLAB_SCREENS names, for eyes.
func (b *browser) look(name string) {
	b.t.Helper()
	dir := os.Getenv("LOCKLAB_SCREENS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
	picture, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// check looks at what the browser has reported: errors, and where requests went.
func (b *browser) check(url string) {
	b.t.Helper()
	for _, e := range b.errors {
		b.t.Errorf("on the console: %s", e)
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, url) && !strings.HasPrefix(r, "data:") && !strings.HasPrefix(r, "blob:") &&
			r != "about:blank" {
			b.t.Errorf("a request to %s", r)
		}
	}
}

// media sets the colours and the medium of the page.
func (b *browser) media(medium, scheme string) {
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": medium,
		"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// visit opens an address of a file.
func (b *browser) visit(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "about:blank"}, nil)
	b.wait(`location.href === "about:blank"`)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.wait(`document.readyState === "complete"`)
}
