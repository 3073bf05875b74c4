package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"locklab/reports/board"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios/play"
)

func (a *app) serve() *cobra.Command {
	port := 0
	c := &cobra.Command{
		Use:     "serve",
		Example: a.examples("serve", "serve"),
		Args:    a.noArguments,
		RunE: func(*cobra.Command, []string) error {
			if port < 0 || port > 65535 {
				return text.Errorf("error.serve.port", "value", port)
			}
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				return text.Errorf("error.serve", "cause", bare(err))
			}
			return a.serveOn(l)
		},
	}
	c.Flags().IntVar(&port, "port", 0, a.usage("serve")("port"))
	return c
}

// serveOn serves the page until the program is told to stop.
func (a *app) serveOn(l net.Listener) error {
	site, err := newSite(l.Addr().String())
	if err != nil {
		return internal(err)
	}
	server := &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return a.ctx }}
	stop := context.AfterFunc(a.ctx, func() { server.Close() })
	defer stop()
	a.Printf("%s\n", a.Say("serve.at", "url", "http://"+l.Addr().String()+"/"))
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return internal(err)
	}
	return nil
}

// site is the page and its engine.
type site struct {
	host string
	page []byte

	mu    sync.Mutex
	table play.Table
}

func newSite(host string) (*site, error) {
	data, err := play.PageData()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := board.Write(&b, board.Page{Data: data}); err != nil {
		return nil, err
	}
	stage := lessons.NewStage()
	return &site{host: host, page: b.Bytes(), table: play.Table{Lesson: func(ctx context.Context, lang, name string) (string, error) {
		return lessons.Read(ctx, stage, lang, name)
	}}}, nil
}

// mostRequest is how many bytes a request of the page has at most; links are short.
const mostRequest = 1 << 20

// ServeHTTP answers the page of this server only: a page from elsewhere that runs in the
// same browser names another host or another origin.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	switch {
	case r.Host != s.host || origin != "" && origin != "http://"+s.host:
		http.Error(w, "locklab serves this machine only", http.StatusForbidden)
	case r.URL.Path == "/" && r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(s.page)
	case r.URL.Path == "/answer" && r.Method == http.MethodPost:
		request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostRequest))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.table.Answer(r.Context(), request))
	default:
		http.NotFound(w, r)
	}
}
