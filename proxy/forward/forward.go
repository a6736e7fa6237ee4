// Package forward forwards requests of proxy clients to origin servers, and fetches the
// resources at locations of names.
package forward

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"os"
	"strconv"
	"sync"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Config configures a Proxy. All fields must be set.
type Config struct {
	Fetch scheme.Handler
	Log   *slog.Logger
	Via   message.ViaName
	// Fetches bounds concurrent fetches, and Streams upgraded connections such as
	// WebSockets, which have no time limit.
	Fetches, Streams resolver.Quota
	// OwnField is a field that urnd itself sends in each response, "" for none.
	OwnField string
}

// Proxy passes requests on to origin servers. It is safe for concurrent use.
type Proxy struct {
	config Config
}

// New returns a Proxy.
func New(config Config) *Proxy { return &Proxy{config: config} }

// Serve forwards a request to the origin server of u, and its response to the client, whose
// share of the limits it takes. An error means that nothing was sent. It is the reverse proxy of the standard library, which
// handles hop-by-hop fields, trailers and upgrades, on top of scheme handlers.
func (p *Proxy) Serve(w http.ResponseWriter, r *http.Request, u uri.URI, client netip.Addr) error {
	left, limited, err := forwards(r)
	switch {
	case err != nil:
		return err
	case limited && left == 0:
		message.Write(w, r.Method, last(r))
		return nil
	}
	release, err := p.config.Fetches.Acquire(client)
	if err != nil {
		return err
	}
	leave := sync.OnceFunc(release)
	defer leave()
	endStream := func() {}
	defer func() { endStream() }()
	var failure error
	proxy := httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			p.config.Via.AddTo(pr.Out.Header)
			if limited {
				pr.Out.Header.Set(maxForwards, strconv.Itoa(left-1))
			}
			message.SetTraceparent(pr.In.Context(), pr.Out.Header)
		},
		ModifyResponse: func(response *http.Response) error {
			if response.StatusCode == http.StatusSwitchingProtocols {
				release, err := p.config.Streams.Acquire(client)
				if err != nil {
					return err
				}
				endStream = release
				leave() // it counts as a stream from now on
			}
			p.finish(response.Header)
			return nil
		},
		Transport:    scheme.Transport{Handler: p.config.Fetch, Target: u},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) { failure = err },
		ErrorLog:     slog.NewLogLogger(p.config.Log.Handler(), slog.LevelDebug),
	}
	proxy.ServeHTTP(w, r)
	if errors.Is(failure, scheme.ErrBody) && errors.Is(failure, os.ErrDeadlineExceeded) {
		return problem.ErrBodyTimeout
	}
	return failure
}

// finish changes the header of an origin's response into one of this proxy.
func (p *Proxy) finish(header http.Header) {
	header.Add("Via", p.config.Via.String())
	if p.config.OwnField != "" {
		header.Del(p.config.OwnField) // or there would be two
	}
	if _, ok := header["Content-Type"]; !ok {
		header["Content-Type"] = nil // net/http would guess one
	}
}
