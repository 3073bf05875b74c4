package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"locklab/reports/game"
	"locklab/reports/lessons"
	"locklab/reports/page"
	"locklab/reports/text"
	"locklab/simulator/i18n"
)

func serveCommand() *command {
	port := 0
	return &command{
		use: "serve", args: noArguments, examples: []string{"serve"},
		flags: func(f *flags) { ranged(f, "port", &port, 0, 65535) },
		run: func(e *env, _ []string) error {
			// no other machine reaches it
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if err != nil {
				return text.Errorf("error.serve", "cause", i18n.Bare(err))
			}
			site, err := newSite(l.Addr().String())
			if err != nil {
				return internal(err)
			}
			return serveSite(e, site, l)
		},
	}
}

// patience is the time that a browser has to send a request, to begin the next one on the
// same connection, and to read an answer. It bounds no computation.
const patience = 10 * time.Second

// serveSite serves the page until a signal stops the program.
func serveSite(e *env, s *site, l net.Listener) error {
	server := &http.Server{
		Handler: s, ReadTimeout: patience, WriteTimeout: patience, // and so between requests
		BaseContext: func(net.Listener) context.Context { return e.ctx },
	}
	stop := context.AfterFunc(e.ctx, func() { server.Close() })
	defer stop()
	e.Printf("%s\n", e.Say("serve.at", "url", "http://"+l.Addr().String()+"/"))
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return internal(err)
	}
	return nil
}

// site is the page and its engines: one for what is waited for, and one for what the page asks for beside that.
type site struct {
	host   string
	page   []byte
	tables [2]chan *game.Table // each with its table, while it is free
}

func newSite(host string) (*site, error) {
	data, err := game.PageData()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := page.WriteBoard(&b, page.Board{Data: data}); err != nil {
		return nil, err
	}
	s := &site{host: host, page: b.Bytes()}
	for i := range s.tables {
		s.tables[i] = make(chan *game.Table, 1)
		s.tables[i] <- &game.Table{Lesson: lessons.NewStage().Read, Cells: lessons.PathCells}
	}
	return s, nil
}

// mostRequest is the size of the largest request of the page, in bytes; links are short.
const mostRequest = 1 << 20

// defaultPort is the port that browsers leave out of an address.
const defaultPort = ":80"

// isLoopback reports whether a host, as a request names it, only means the machine of the browser: this server, or the
// end of a tunnel to it, with another port. The name of a page from elsewhere does not, whatever it resolves to.
func isLoopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	return strings.EqualFold(name, "localhost") || net.ParseIP(name).IsLoopback()
}

// isSame reports whether a request without an origin, or with this one, comes from the page that has its host.
func isSame(origin, host string) bool {
	return origin == "" || strings.TrimSuffix(origin, defaultPort) == "http://"+strings.TrimSuffix(host, defaultPort)
}

// ServeHTTP answers only this server's page: a page from elsewhere in the same browser names another host or origin.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'") // a page cannot say this of itself
	switch {
	case !isLoopback(r.Host) || !isSame(r.Header.Get("Origin"), r.Host):
		_, port, _ := net.SplitHostPort(s.host)
		http.Error(w, text.Say("en", "serve.elsewhere", "port", port)+"\n"+text.Say("zh", "serve.elsewhere",
			"port", port), http.StatusForbidden)
	case r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		reply(w, "text/html; charset=utf-8", s.page)
	case r.URL.Path == "/answer" && r.Method == http.MethodPost:
		request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostRequest))
		if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil {
			http.Error(w, "the request did not come whole", http.StatusBadRequest)
			return
		}
		reply(w, "application/json", s.answer(r.Context(), r.URL.Query().Has("aside"), request))
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `404: <a href="/">locklab</a>`)
	}
}

// answer has each engine answer one request after the other. It ends with the request that the browser has taken back.
func (s *site) answer(ctx context.Context, aside bool, request []byte) []byte {
	free := s.tables[0]
	if aside {
		free = s.tables[1]
	}
	select {
	case <-ctx.Done():
		return nil // nobody reads it
	case table := <-free:
		defer func() { free <- table }()
		return table.Answer(ctx, request)
	}
}

// reply sends what is ready now, which may be long after the request.
func reply(w http.ResponseWriter, kind string, content []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)) // a recorder of a test has none
	_, _ = w.Write(content)
}
