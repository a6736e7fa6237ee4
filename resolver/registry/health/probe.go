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

// Limits of one check.
const (
	maxRedirects = 5
	maxBody      = 4 << 10 // bytes that are read, so that the connection can be reused
	maxText      = 200     // bytes of an error text
	maxMovedURI  = 2000    // bytes of the location of a moved target
)

// Result is the result of one check of a target.
type Result struct {
	Outcome Outcome
	Status  int    // the last status, 0 without a response
	Error   string // the reason, "" if the outcome is good
	// Moved is the location of a permanently moved target, if all redirects up to it are permanent and it is
	// alive; "" otherwise.
	Moved string
}

// prober sends the requests of checks. It is safe for concurrent use.
type prober struct {
	transport http.RoundTripper
	agent     string        // User-Agent
	timeout   time.Duration // of a request
	hosts     *hosts
	now       func() time.Time
}

// checkable returns a target without its fragment; ok is false if it is not an HTTP URI.
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

// serverOf returns the origin of a URI: scheme, host and port.
func serverOf(u uri.URI) string {
	host, _ := u.Host()
	port, _ := u.Port()
	if port == "" {
		port = u.DefaultPort()
	}
	return strings.ToLower(u.Scheme()) + "://" + uri.CanonicalHost(host) + ":" + port
}

// check checks a target: by HEAD, and by GET if the response to HEAD is an error. It follows redirects.
func (p *prober) check(ctx context.Context, target string) Result {
	u, ok := checkable(target)
	if !ok {
		return Result{Outcome: Unchecked, Error: "only http and https can be checked"}
	}
	moved, forGood := "", true
	for range maxRedirects + 1 {
		r, to := p.ask(ctx, u)
		if to == "" {
			if r.Outcome == Alive && len(moved) <= maxMovedURI {
				r.Moved = moved
			}
			return r
		}
		reference, err := uri.ParseRawReference(to)
		if err == nil {
			reference, err = u.Resolve(reference, uri.RFC3986)
		}
		if err != nil {
			return Result{
				Outcome: Failing, Status: r.Status,
				Error: shorten(fmt.Sprintf("redirect to %q, which is not a URI", to)),
			}
		}
		next := reference.WithoutFragment()
		switch {
		case !isWeb(next): // the target responded; the scheme of its location is not checkable
			return Result{Outcome: Alive, Status: r.Status}
		case next == u:
			return Result{Outcome: Failing, Status: r.Status, Error: "redirect to itself"}
		}
		u = next
		if forGood = forGood && isPermanent(r.Status); forGood {
			moved = u.String()
		}
	}
	return Result{Outcome: Failing, Error: fmt.Sprintf("more than %d redirects", maxRedirects)}
}

// isPermanent reports whether a redirect status is permanent (RFC 9110 sections 15.4.2 and 15.4.9).
func isPermanent(status int) bool {
	return status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect
}

// ask checks one URI without following redirects. to is the location of a redirect, "" if there is none.
func (p *prober) ask(ctx context.Context, u uri.URI) (r Result, to string) {
	head, err := p.exchange(ctx, http.MethodHead, u)
	if err == nil && !retryWithGET(head.status) || err != nil && !mayAnswerGET(err) {
		return p.resultOf(head, err)
	}
	return p.resultOf(p.exchange(ctx, http.MethodGet, u))
}

// mayAnswerGET reports whether a server may respond to GET after this error of HEAD.
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
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		if to = a.location; to == "" {
			return Result{Outcome: Failing, Status: status, Error: "redirect without a Location"}, ""
		}
		return Result{Outcome: Alive, Status: status}, to
	}
	r = Result{Outcome: outcomeOf(status), Status: status}
	if !r.Outcome.good() {
		r.Error = strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
	}
	return r, ""
}

// errLater means that a server has requested a delay.
var errLater = errors.New("server asks for a pause (Retry-After)")

// answer is the response of a server.
type answer struct {
	status   int
	location string // the header field Location
}

// exchange waits until its server may be requested, sends a request, and reads at most the beginning of the
// response.
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
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout,
		fmt.Errorf("no response within %s: %w", p.timeout, context.DeadlineExceeded))
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
		_, _ = io.CopyN(io.Discard, response.Body, maxBody) // only the status matters
	}
	_ = response.Body.Close() // only the status matters
	if response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable {
		alone = retryAfter(response.Header.Get("Retry-After"), p.now())
	}
	return answer{response.StatusCode, response.Header.Get("Location")}, nil
}

// shorten truncates a text and replaces its control characters.
func shorten(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
	return plaintext.Truncate(text, maxText)
}
