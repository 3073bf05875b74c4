package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locklab/reports/game"
	"locklab/reports/text"
	"locklab/simulator/realserver/servertest"
)

// The server answers what the engine answers, and this machine only. No answer is guessed to be of another kind, and no
// page of elsewhere frames this one.
func TestSite(t *testing.T) {
	s, err := newSite("127.0.0.1:80")
	if err != nil {
		t.Fatal(err)
	}
	request := `{"do":"level","number":2}`
	var own game.Table
	defer own.Close()
	level := string(own.Answer(t.Context(), []byte(request)))
	for _, c := range []struct {
		method, url, body, origin string
		status                    int
		says                      string
	}{
		{"GET", "http://127.0.0.1:80/", "", "", 200, "<title>locklab</title>"},
		{"POST", "http://127.0.0.1:80/answer", request, "http://127.0.0.1:80", 200, level},
		{"POST", "http://127.0.0.1:80/answer", request, "http://elsewhere", 403, "this machine"},
		{"POST", "http://127.0.0.1/answer", request, "http://127.0.0.1", 200, level}, // as browsers write port 80
		{"POST", "http://127.0.0.1/answer", request, "https://127.0.0.1", 403, "this machine"},
		{"POST", "http://127.0.0.1/answer", request, "127.0.0.1", 403, "this machine"},
		{"HEAD", "http://127.0.0.1/", "", "", 200, ""},
		{"PUT", "http://127.0.0.1/", "", "", 404, ""},
		{"GET", "http://127.0.0.1:8080/", "", "", 200, "<title>locklab</title>"}, // the end of a tunnel
		{"GET", "http://localhost:8080/", "", "", 200, "<title>locklab</title>"},
		{"GET", "http://[::1]/", "", "", 200, "<title>locklab</title>"},
		{"POST", "http://localhost:8080/answer", request, "http://localhost:8080", 200, `"lock":"setnx"`},
		// another page of the machine
		{"POST", "http://localhost:8080/answer", request, "http://localhost:80", 403, "this machine"},
		{"GET", "http://elsewhere/", "", "", 403, "ssh -L 8080:127.0.0.1:80 HOST"},
		{"GET", "http://127.0.0.1.elsewhere/", "", "", 403, "this machine"},
		{"GET", "http://127.0.0.1:80/answer", "", "", 404, ""},
		{"GET", "http://127.0.0.1:80/etc/passwd", "", "", 404, ""},
		{"POST", "http://127.0.0.1:80/answer", strings.Repeat(" ", mostRequest+1), "", 413, "too large"},
	} {
		r := httptest.NewRequest(c.method, c.url, strings.NewReader(c.body))
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s: %d %.200s", c.method, c.url, w.Code, w.Body)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "frame-ancestors 'none'",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %s: %s %q", c.method, c.url, name, got)
			}
		}
	}
}

// TestServeOnLoopback: the command listens where other machines do not reach it, says where, and
// ends when it is told to.
func TestServeOnLoopback(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve"}, strings.NewReader(""), out, io.Discard, func(string) string { return "" })
		out.Close()
	}()
	said, err := bufio.NewReader(in).ReadString('\n')
	url := regexp.MustCompile(`http://[0-9.:]+/`).FindString(said)
	if err != nil || strings.TrimSpace(said) != text.Say("en", "serve.at", "url", url) {
		t.Fatalf("%q, %v", said, err)
	}
	servertest.OnlyLoopback(t, os.Getpid(), strings.Trim(strings.TrimPrefix(url, "http:"), "/"))
	answer, err := http.Get(url)
	if err != nil || answer.StatusCode != 200 {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
	head, err := http.Head(url)
	if err != nil || head.StatusCode != 200 || head.ContentLength != answer.ContentLength || head.ContentLength <= 0 {
		t.Errorf("HEAD: %v, %v; GET: %v", head, err, answer)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if code := <-ended; code != exitOK {
		t.Errorf("exit status %d", code)
	}
}

// TestServePatience: a connection ends on which no request comes, whatever has come of it, and on
// which no answer is read. Nobody else waits for it, and a long computation is no reason.
func TestServePatience(t *testing.T) {
	const whole = "POST /answer HTTP/1.1\r\nHost: 127.0.0.1:8\r\nContent-Length: 14\r\n\r\n{\"do\":\"texts\"}"
	s, err := newSite("127.0.0.1:8")
	if err != nil {
		t.Fatal(err)
	}
	const long = 10 * time.Minute
	teach(s, func(context.Context, string, string) (string, error) {
		time.Sleep(long) // of the bubble's time: none of ours
		return "", nil
	})
	for name, sent := range map[string]string{
		"silence":        "",
		"half a header":  "POST /answer HTTP/1.1\r\nHo",
		"half a body":    whole[:len(whole)-3],
		"nothing next":   "HEAD / HTTP/1.1\r\nHost: 127.0.0.1:8\r\n\r\n",
		"nobody reads":   whole,
		"nobody reads /": "GET / HTTP/1.1\r\nHost: 127.0.0.1:8\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, s, func(t *testing.T, dial func() (net.Conn, <-chan struct{})) {
				idle, ended := dial()
				began := time.Now()
				go idle.Write([]byte(sent))
				if name == "nothing next" {
					go io.Copy(io.Discard, idle)
				}
				synctest.Wait()
				other, _ := dial()
				go other.Write([]byte(whole))
				answer, err := http.ReadResponse(bufio.NewReader(other), nil)
				if err != nil || answer.StatusCode != 200 || time.Since(began) > 0 {
					t.Errorf("somebody else: %v, %v after %v", answer, err, time.Since(began))
				}
				other.Close()
				<-ended
				if took := time.Since(began); took <= 0 || took > 30*time.Second {
					t.Errorf("it ends after %v", took)
				}
			})
		})
	}
	t.Run("a long computation", func(t *testing.T) {
		inBubble(t, s, func(t *testing.T, dial func() (net.Conn, <-chan struct{})) {
			c, _ := dial()
			began := time.Now()
			go c.Write([]byte("POST /answer HTTP/1.1\r\nHost: 127.0.0.1:8\r\nContent-Length: " +
				"26\r\n\r\n{\"do\":\"lesson\",\"name\":\"x\"}"))
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(answer.Body)
			// in two languages
			took := time.Since(began)
			if err != nil || took != 2*long || !strings.Contains(string(said), `"name":"x"`) {
				t.Errorf("%s, %v after %v", said, err, took)
			}
		})
	})
}

// teach sets the lessons of a site's first engine.
func teach(s *site, lesson func(ctx context.Context, lang, name string) (string, error)) {
	table := <-s.tables[0]
	table.Lesson = lesson
	s.tables[0] <- table
}

// TestServeTakenBack: a request that the browser takes back ends, and frees its engine; what the page
// asks for beside it is answered meanwhile.
func TestServeTakenBack(t *testing.T) {
	s, err := newSite("")
	if err != nil {
		t.Fatal(err)
	}
	begun, ended := make(chan bool), make(chan bool)
	teach(s, func(ctx context.Context, _, _ string) (string, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return "", ctx.Err()
	})
	server := httptest.NewServer(s)
	defer server.Close()
	s.host = strings.TrimPrefix(server.URL, "http://")
	ask := func(ctx context.Context, path, request string) (string, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+path, strings.NewReader(request))
		if err != nil {
			return "", err
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		said, err := io.ReadAll(answer.Body)
		return string(said), err
	}
	ctx, takeBack := context.WithCancel(t.Context())
	go ask(ctx, "/answer", `{"do":"lesson","name":"x"}`)
	<-begun
	const request = `{"do":"level","number":2}`
	if said, err := ask(t.Context(), "/answer?aside", request); err != nil ||
		!strings.Contains(said, `"lock":"setnx"`) {
		t.Errorf("aside: %.200s, %v", said, err)
	}
	takeBack()
	<-ended
	if said, err := ask(t.Context(), "/answer", request); err != nil || !strings.Contains(said, `"lock":"setnx"`) {
		t.Errorf("afterwards: %.200s, %v", said, err)
	}
}

// inBubble has a site served in memory, in a bubble with a clock of its own. dial returns the
// near end of a connection, and what is closed when the server has ended it.
func inBubble(t *testing.T, s *site, do func(t *testing.T, dial func() (c net.Conn, ended <-chan struct{}))) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		e := newTestEnv(io.Discard, io.Discard)
		e.ctx = ctx
		l := &pipes{dialled: make(chan net.Conn), closed: make(chan struct{})}
		served := make(chan error, 1)
		go func() { served <- serveSite(e, s, l) }()
		do(t, func() (net.Conn, <-chan struct{}) {
			near, far := net.Pipe()
			context.AfterFunc(ctx, func() { near.Close() })
			c := &pipe{Conn: far, ended: make(chan struct{})}
			l.dialled <- c
			return near, c.ended
		})
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// pipes is a listener in memory.
type pipes struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialled:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8} }

// pipe is the server's end of a connection.
type pipe struct {
	net.Conn
	ended chan struct{}
	once  sync.Once
}

func (c *pipe) Close() error {
	c.once.Do(func() { close(c.ended) })
	return c.Conn.Close()
}
