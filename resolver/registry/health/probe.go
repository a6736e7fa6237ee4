package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Bounds of one check.
const (
	maxRedirects = 5
	maxBody      = 4 << 10 // octets that are read, so that the connection may be used again
	maxText      = 200     // octets of the text of an error
	maxMovedURI  = 2000    // octets of where a target has moved
)

// Result is what one check of a target found.
type Result struct {
	Outcome Outcome
	Status  int    // the last one, 0 where there was no answer
	Error   string // why it is not good, "" where it is
	// Moved is where the target has moved for good, as its server and those to which that leads say, and is alive; "" for nowhere.
	Moved string
}

// prober asks targets. It is safe for concurrent use.
type prober struct {
	transport http.RoundTripper
	agent     string        // User-Agent
	timeout   time.Duration // of a request
	hosts     *hosts
	now       func() time.Time
}

// checkable returns a target without its fragment; ok is false where it cannot be asked.
func checkable(target string) (u uri.URI, ok bool) {
	u, err := uri.FromIRI(target)
	if err != nil || !isWeb(u) {
		return uri.URI{}, false
	}
	return u.WithoutFragment(), true
}

func isWeb(u uri.URI) bool {
	host, _ := u.Host()
	return host != "" && u.IsWeb()
}

// serverOf returns the server of a URI.
func serverOf(u uri.URI) string {
	host, _ := u.Host()
	port, _ := u.Port()
	if port == "" {
		port = u.DefaultPort()
	}
	return strings.ToLower(u.Scheme()) + "://" + uri.CanonicalHost(host) + ":" + port
}

// check checks a target: by HEAD, and by GET where that does not answer well.
func (p *prober) check(ctx context.Context, target string) Result {
	u, ok := checkable(target)
	if !ok {
		return Result{Outcome: Unchecked, Error: "only http and https can be checked"}
	}
	moved, isForGood := "", true
	for range maxRedirects + 1 {
		r, to := p.ask(ctx, u)
		if to == "" {
			if r.Outcome == Alive && len(moved) <= maxMovedURI {
				r.Moved = moved
			}
			return r
		}
		reference, err := uri.ParseReference(to)
		if err == nil {
			reference, err = u.Resolve(reference, uri.RFC3986)
		}
		if err != nil {
			return Result{Outcome: Failing, Status: r.Status, Error: shorten(fmt.Sprintf("it redirects to %q, which is not a URI", to))}
		}
		next := reference.WithoutFragment()
		switch {
		case !isWeb(next): // it has answered; where it leads is another matter
			return Result{Outcome: Alive, Status: r.Status}
		case next == u:
			return Result{Outcome: Failing, Status: r.Status, Error: "it redirects to itself"}
		}
		u = next
		if isForGood = isForGood && isPermanent(r.Status); isForGood {
			moved = u.String()
		}
	}
	return Result{Outcome: Failing, Error: fmt.Sprintf("more than %d redirects", maxRedirects)}
}

// isPermanent reports whether a redirect is for good: RFC 9110 sections 15.4.2 and 15.4.9.
func isPermanent(status int) bool {
	return status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect
}

// ask asks one server for a URI. to is where it redirects, "" where it does not.
func (p *prober) ask(ctx context.Context, u uri.URI) (r Result, to string) {
	head, err := p.exchange(ctx, http.MethodHead, u)
	if err == nil && !askAgain(head.status) || err != nil && !mayAnswerGET(err) {
		return p.resultOf(head, err)
	}
	return p.resultOf(p.exchange(ctx, http.MethodGet, u))
}

// mayAnswerGET reports whether a server may answer GET after an error of HEAD.
func mayAnswerGET(err error) bool {
	var dial *net.OpError
	return !errors.Is(err, errLater) && !errors.Is(err, resolver.ErrForbidden) && !errors.Is(err, context.Canceled) &&
		(!errors.As(err, &dial) || dial.Op != "dial")
}

// resultOf returns the result of an exchange.
func (p *prober) resultOf(a answer, err error) (r Result, to string) {
	switch {
	case errors.Is(err, errLater):
		return Result{Outcome: Later, Error: err.Error()}, ""
	case errors.Is(err, resolver.ErrForbidden):
		return Result{Outcome: Forbidden, Error: shorten(err.Error())}, ""
	case err != nil:
		return Result{Outcome: Failing, Error: shorten(err.Error())}, ""
	}
	status := a.status
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if to = a.location; to == "" {
			return Result{Outcome: Failing, Status: status, Error: "a redirect that does not say where to"}, ""
		}
		return Result{Outcome: Alive, Status: status}, to
	}
	r = Result{Outcome: outcomeOf(status), Status: status}
	if !r.Outcome.good() {
		r.Error = strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
	}
	return r, ""
}

// errLater is the error for a server that wants to be left alone.
var errLater = errors.New("the server wants to be left alone for some time")

// answer is what a server answered.
type answer struct {
	status   int
	location string // the field Location
}

// exchange sends a request when its server may be asked, and reads the beginning of the response at most.
func (p *prober) exchange(ctx context.Context, method string, u uri.URI) (answer, error) {
	name := serverOf(u)
	if !p.hosts.enter(ctx, name) {
		if ctx.Err() != nil {
			return answer{}, context.Cause(ctx)
		}
		return answer{}, errLater
	}
	var alone time.Duration
	defer func() { p.hosts.leave(name, alone) }()
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout, fmt.Errorf("no answer within %s: %w", p.timeout, context.DeadlineExceeded))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("User-Agent", p.agent)
	request.Header.Set("Accept", "*/*")
	response, err := p.transport.RoundTrip(request)
	if err != nil {
		return answer{}, err
	}
	if method == http.MethodGet {
		_, _ = io.CopyN(io.Discard, response.Body, maxBody) // the status has come: how it goes on does not matter
	}
	_ = response.Body.Close() // likewise
	if response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable {
		alone = retryAfter(response.Header.Get("Retry-After"), p.now())
	}
	return answer{response.StatusCode, response.Header.Get("Location")}, nil
}

// shorten returns the beginning of a text, without control characters.
func shorten(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
	return plaintext.Cut(text, maxText)
}
