package problem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// failure returns the error for a text that is not a URI.
func failure(t *testing.T, text string) error {
	t.Helper()
	_, err := uri.Parse(text)
	if err == nil {
		t.Fatalf("%q is a URI", text)
	}
	return err
}

// TestStatus covers RFC 9110 section 15, RFC 6585 (429 and 431), and RFC 5842 (508).
func TestStatus(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for _, tt := range []struct {
		err    error
		status int
	}{
		{failure(t, "nothing"), 400},
		{problem.ErrMalformed, 400},
		{problem.ErrNotTLS, 400},
		{problem.ErrBatchSyntax, 400},
		{problem.ErrSelection, 400},
		{problem.ErrTokenRequired, 401},
		{problem.ErrNoRegistry, 404},
		{problem.ErrNotDeleted, 405},
		{problem.ErrPreconditionRequired, 428},
		{problem.ErrPreconditionFailed, 412},
		{problem.ErrContentType, 415},
		{problem.ErrDocument, 400},
		{problem.ErrDocumentSize, 413},
		{registry.ErrKeyReused, 422},
		{registry.ErrJobLimit, 503},
		{registry.ErrExportLimit, 503},
		{registry.ErrUnknownJob, 404},
		{registry.ErrJobsDisabled, 501},
		{registry.ErrJobEnded, 409},
		{registry.ErrInvalidToken, 401},
		{registry.ErrUnavailable, 503},
		{registry.ErrSchema, 503},
		{registry.ErrDamaged, 500},
		{registry.ErrDenied, 403},
		{registry.ErrUnknown, 404},
		{registry.ErrInvalidCursor, 400},
		{registry.ErrForeignCursor, 410},
		{registry.ErrConflict, 412},
		{registry.ErrInvalid, 422},
		// For an invalid name the parser's error has the position.
		{fmt.Errorf("%w: %w", registry.ErrInvalid, failure(t, "nothing")), 400},
		{problem.ErrLogin, 401},
		{problem.ErrSiteLogin, 401},
		{problem.ErrAdminToken, 401},
		{problem.ErrResolveClient, 403},
		{problem.ErrProxyClient, 403},
		{problem.ErrCrossSiteFetch, 403},
		{problem.ErrPurgeClient, 403},
		{problem.ErrAdminClient, 403},
		{problem.ErrAdminRelayed, 403},
		{problem.ErrUnknownHost, 403},
		{netguard.ErrOwn, 403},
		{problem.ErrBodyTimeout, 408},
		{scheme.ErrRequestBody, 400},
		{scheme.ErrInvalidResponse, 502},
		{problem.ErrAdminOrigin, 403},
		{problem.ErrAdminCertificate, 403},
		{netguard.ErrForbidden, 403},
		{policy.ErrDenied, 403},
		{&policy.Denied{Rule: "no-social"}, 403},
		{resolver.ErrForbidden, 403},
		{resolver.ErrNotFound, 404},
		{resolver.ErrUnsupported, 404},
		{problem.ErrAdminPath, 404},
		{problem.ErrMethod, 405},
		{&problem.MethodError{Allow: "GET"}, 405},
		{problem.ErrProxyLogin, 407},
		{resolver.ErrGone, 410},
		{problem.ErrBatchSize, 413},
		{problem.ErrTargetTooLong, 414},
		{problem.ErrAdminHost, 421},
		{problem.ErrTooManyConnections, 429},
		{problem.ErrTooManyRequests, 429},
		{problem.ErrHeaderTooLarge, 431},
		{errors.New("a bug"), 500},
		{problem.ErrTunnelPort, 403},
		{httpcache.ErrOnlyIfCached, 504},
		{httpcache.ErrUnexpectedNotModified, 502},
		{scheme.ErrInvalidResponse, 502},
		{resolver.ErrService, 501},
		{scheme.ErrUnsupported, 501},
		{resolver.ErrUnreachable, 502},
		{refused, 502},
		{resolver.ErrBusy, 503},
		{problem.ErrTooManyBatches, 503},
		{problem.ErrBatchTimeout, 503},
		{problem.ErrTooManyFetches, 503},
		{problem.ErrDocuments, 503},
		{problem.ErrTooManyStreams, 503},
		{context.Canceled, 503},
		{context.DeadlineExceeded, 504},
		{os.ErrDeadlineExceeded, 504},
		{problem.ErrLoop, 508},
		// The first row of the table that is wrapped applies.
		{fmt.Errorf("%w: %w", resolver.ErrUnreachable, context.DeadlineExceeded), 504},
		// Invalid URIs that are not from the client.
		{fmt.Errorf("%w: %w", resolver.ErrUnreachable, failure(t, "nothing")), 502},
		{fmt.Errorf("%w: %w", scheme.ErrInvalidResponse, failure(t, "nothing")), 502},
		{errors.Join(failure(t, "nothing"), resolver.ErrUnreachable), 502},
		{fmt.Errorf("%w: %w", resolver.ErrUnreachable, netguard.ErrForbidden), 403},
		{fmt.Errorf("%w: %w", resolver.ErrUnreachable, &policy.Denied{Rule: "internal"}), 403},
		{fmt.Errorf("%w: %w", resolver.ErrUnreachable, refused), 502},
	} {
		if got := problem.Status(tt.err); got != tt.status {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.status)
		}
		if got := problem.Status(&problem.Failure{Err: fmt.Errorf("resolving: %w", tt.err)}); got != tt.status {
			t.Errorf("wrapped, %v: %d, want %d", tt.err, got, tt.status)
		}
	}
}

func TestNew(t *testing.T) {
	u, err := uri.Parse("urn:example:a")
	if err != nil {
		t.Fatal(err)
	}
	steps := []resolver.Step{{Stage: "dns", Detail: "asked"}}
	for _, tt := range []struct {
		err                        error
		title, detail, input, rule string
		offset                     int // -1 for none
		steps                      int
	}{
		{resolver.ErrGone, "Gone", "name is gone", "", "", -1, 0},
		{problem.WithURI(resolver.ErrGone, u), "Gone", "name is gone", "urn:example:a", "", -1, 0},
		{
			&problem.Failure{Err: resolver.ErrBusy, Trace: steps}, "Service Unavailable", "too many concurrent requests",
			"", "", -1, 1,
		},
		{
			problem.WithURI(failure(t, "http://a/%zz"), u), "Bad Request", uri.RulePctEncoded.Requirement, "http://a/%zz",
			"pct-encoded", 9, 0,
		},
		{
			netguard.ErrForbidden, "Forbidden", netguard.ErrForbidden.Error() + " (access.allow_destinations)", "", "",
			-1, 0,
		},
		{
			&policy.Denied{Rule: "no-social"}, "Forbidden",
			`the site's rule "no-social" denies this request (proxy.rules)`, "", "", -1, 0,
		},
		{
			errors.New("a bug in /home/urnd"), "Internal Server Error", "internal error; see the log of urnd", "", "",
			-1, 0,
		},
	} {
		p := problem.New(tt.err)
		offset := -1
		if p.Offset != nil {
			offset = *p.Offset
		}
		if p.Title != tt.title || p.Status != problem.Status(tt.err) || p.Detail != tt.detail || p.Input != tt.input ||
			p.Rule != tt.rule || offset != tt.offset || len(p.Trace) != tt.steps {
			t.Errorf("%v: %+v at %d", tt.err, p, offset)
		}
	}
}

// TestNewHidesPasswords requires that no problem document shows a password, and that the offset is correct
// without it: RFC 3986 section 7.5.
func TestNewHidesPasswords(t *testing.T) {
	ftp, err := uri.Parse("ftp://bob:sec7ret@h/x;type=q")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		err   error
		input string
		at    string // the text at the offset; "" for no offset
	}{
		{ftp.Check(), "ftp://bob:xxxxx@h/x;type=q", "q"},
		{&problem.Failure{Err: ftp.Check(), Typed: ftp.String(), Fetched: true}, "ftp://bob:xxxxx@h/x;type=q", "q"},
		{problem.WithURI(resolver.ErrGone, ftp), "ftp://bob:xxxxx@h/x;type=q", ""},
		{failure(t, "ftp://bob:sec7ret@h/%zz"), "ftp://bob:xxxxx@h/%zz", "%zz"},
		{failure(t, "ftp://bob:sec7 ret@h/"), "ftp://bob:xxxxx@h/", "xxxxx@h/"},
		{failure(t, "ftp:bob:sec7ret@h/%zz"), "ftp:bob:xxxxx@h/%zz", "%zz"},
	} {
		p := problem.New(tt.err)
		at := ""
		if p.Offset != nil {
			at = p.Input[*p.Offset:]
		}
		if p.Input != tt.input || at != tt.at {
			t.Errorf("%v: %q at %q", tt.err, p.Input, at)
		}
		for _, accept := range []string{"application/json", "text/html"} {
			body := string(problem.Reply(pages.New(pages.Site{}), httpmessage.NewFields("Accept", accept).Values,
				tt.err).Body)
			if !strings.Contains(body, "bob:") || strings.Contains(body, "sec7") || strings.Contains(body, "ret@") {
				t.Errorf("%v as %s: %s", tt.err, accept, body)
			}
		}
	}
}

// TestReplyByAccept requires that only a client that prefers HTML gets a page: RFC 9110 section 12.5.1.
func TestReplyByAccept(t *testing.T) {
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	negative := &resolver.Negative{Kind: resolver.ErrNotFound, Reason: `no <script>alert("1")</script>`}
	for accept, page := range map[string]bool{
		"": false, "*/*": false, browser: true, "text/html": true, "text/*": true,
		"text/html;q=0.5, application/json": false, "text/html, application/problem+json;q=0.9": true,
		"text/html;q=0, */*": false, "image/png": false,
		"not a type": false,
	} {
		header := make(http.Header)
		if accept != "" {
			header.Set("Accept", accept)
		}
		r := problem.Reply(pages.New(pages.Site{}), httpmessage.NewHeader(header), negative)
		vary := "Accept"
		if page {
			vary = "Accept, Accept-Language"
		}
		if r.Status != 404 || r.Vary != vary || r.CacheControl != "no-store" {
			t.Errorf("%q: %+v", accept, r)
		}
		body := string(r.Body)
		if page {
			if r.ContentType != "text/html; charset=utf-8" || strings.Contains(body, "<script") ||
				!strings.Contains(body, "no &lt;script&gt;alert(") {
				t.Errorf("%q: %s %s", accept, r.ContentType, body)
			}
			continue
		}
		var document struct {
			Status        int
			Title, Detail string
		}
		if err := json.Unmarshal(r.Body,
			&document); err != nil || r.ContentType != "application/problem+json" || document.Status != 404 ||
			document.Title != "Not Found" || document.Detail != negative.Error() {
			t.Errorf("%q: %s %s, %v", accept, r.ContentType, body, err)
		}
	}
}

// TestReplyFields checks the fields that RFC 9110 requires with a status (sections 10.2.1, 11.6.1 and 11.7.1),
// and those of cached negative answers.
func TestReplyFields(t *testing.T) {
	negative := func(state resolver.CacheState, ttl time.Duration) error {
		return &resolver.Negative{Kind: resolver.ErrNotFound, Cache: state, TTL: ttl}
	}
	for _, tt := range []struct {
		err                       error
		name, value               string
		cacheControl, cacheStatus string
	}{
		{&problem.MethodError{Allow: "GET, HEAD"}, "Allow", "GET, HEAD", "no-store", ""},
		{problem.ErrLogin, "Www-Authenticate", `Basic realm="urnd", charset="UTF-8"`, "no-store", ""},
		{problem.ErrSiteLogin, "Www-Authenticate", `Basic realm="urnd", charset="UTF-8"`, "no-store", ""},
		{problem.ErrProxyLogin, "Proxy-Authenticate", `Basic realm="urnd", charset="UTF-8"`, "no-store", ""},
		{problem.ErrAdminToken, "Www-Authenticate", `Bearer realm="urnd"`, "no-store", ""},
		{problem.ErrTooManyRequests, "Retry-After", "1", "no-store", ""},
		{problem.ErrTooManyFetches, "Retry-After", "1", "no-store", ""},
		{resolver.ErrUnreachable, "", "", "no-store", ""},
		{negative(resolver.Uncached, time.Minute), "", "", "no-store", ""},
		{negative(resolver.CacheHit, time.Minute), "", "", "max-age=60", "urnd; hit; ttl=60"},
		{negative(resolver.CacheMiss, 0), "", "", "no-store", "urnd; fwd=uri-miss; ttl=0"},
	} {
		r := problem.Reply(pages.New(pages.Site{}), nil, tt.err)
		want := 0
		if tt.name != "" {
			want = 1
		}
		if len(r.Fields) != want || r.Fields.Get(tt.name) != tt.value || r.CacheControl != tt.cacheControl ||
			r.CacheStatus != tt.cacheStatus {
			t.Errorf("%v: %v, %q, %q", tt.err, r.Fields, r.CacheControl, r.CacheStatus)
		}
	}
}

func TestMalformed(t *testing.T) {
	const max = 20
	long := "/urn:example:" + strings.Repeat("a", max)
	for _, tt := range []struct {
		status         int // of net/http
		reason, target string
		plainHTTP      bool
		code           int
		detail         string
	}{
		{400, "", "", true, 400, problem.ErrNotTLS.Error()},
		{431, "", long, false, 414, problem.ErrTargetTooLong.Error() + " (limits.target)"},
		{431, "", "/urn:a1:b", false, 431, problem.ErrHeaderTooLarge.Error() + " (limits.header)"},
		{400, "", "/urn:a1:%zz", false, 400, uri.RulePctEncoded.Requirement},
		{
			400, "missing required Host header", "/urn:a1:b", false, 400,
			problem.ErrMalformed.Error() + ": missing required Host header",
		},
		{400, "", "/urn:a1:b", false, 400, problem.ErrMalformed.Error()},
		{400, "", "", false, 400, problem.ErrMalformed.Error()},
	} {
		err := problem.Malformed(tt.status, tt.reason, tt.target, max, tt.plainHTTP)
		status, contentType, body := problem.Short(err)
		var document struct{ Detail string }
		if jsonErr := json.Unmarshal(body,
			&document); jsonErr != nil || status != tt.code || contentType != "application/problem+json" ||
			document.Detail != tt.detail {
			t.Errorf("%d %s of %q: %d %s, %v", tt.status, tt.reason, tt.target, status, body, jsonErr)
		}
	}
}
