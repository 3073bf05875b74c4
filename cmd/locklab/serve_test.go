package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"locklab/reports/text"
	"locklab/scenarios/play"
)

// The server answers what the engine answers, and this machine only.
func TestSite(t *testing.T) {
	s, err := newSite("127.0.0.1:80")
	if err != nil {
		t.Fatal(err)
	}
	request := `{"do":"level","number":2}`
	for _, c := range []struct {
		method, url, body, origin string
		status                    int
		says                      string
	}{
		{"GET", "http://127.0.0.1:80/", "", "", 200, "<title>locklab</title>"},
		{"POST", "http://127.0.0.1:80/answer", request, "http://127.0.0.1:80", 200, `"lock":"setnx"`},
		{"POST", "http://127.0.0.1:80/answer", request, "http://elsewhere", 403, "this machine"},
		{"GET", "http://elsewhere/", "", "", 403, "this machine"},
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
	}
	var own play.Table
	defer own.Close()
	r := httptest.NewRequest("POST", "http://127.0.0.1:80/answer", strings.NewReader(request))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if want := own.Answer(context.Background(), []byte(request)); !bytes.Equal(w.Body.Bytes(), want) {
		t.Errorf("%.200s\nwant\n%.200s", w.Body, want)
	}
}

// It says where it is, and ends when it is told to.
func TestServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var out bytes.Buffer
	a := newApp(strings.NewReader(""), &out, io.Discard, func(string) string { return "" })
	a.ctx = ctx
	ended := make(chan error, 1)
	go func() { ended <- a.serveOn(l) }()
	reply, err := http.Get("http://" + l.Addr().String() + "/")
	if err != nil || reply.StatusCode != 200 {
		t.Fatal(reply, err)
	}
	reply.Body.Close()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if want := text.Say("en", "serve.at", "url", "http://"+l.Addr().String()+"/"); strings.TrimSpace(out.String()) != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
