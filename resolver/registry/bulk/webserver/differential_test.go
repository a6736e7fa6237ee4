package webserver_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/lookup"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/urnns"
)

// request is a request for a path, possibly with a query.
type request struct{ path, accept string }

// differential is a configuration with requests for it.
type differential struct {
	seed             int
	text, host, base string
	requests         []request
	rules            map[int]int // the lines of redirecting rules
	inner            []int       // the lines of internal rewrites
}

// origin returns the scheme and the host of the base.
func (c *differential) origin() string {
	scheme, _, _ := strings.Cut(c.base, "://")
	return scheme + "://" + c.host
}

// seeds returns the number of configurations: some dozens with -short, some hundreds by default, 10,000 in
// long test runs; WEB_SEEDS overrides it.
func seeds() int {
	if n, err := strconv.Atoi(os.Getenv("WEB_SEEDS")); err == nil {
		return n
	}
	if testserver.Long() {
		return 10000
	}
	if testing.Short() {
		return 40
	}
	return 200
}

// imported is the result of importing a configuration.
type imported struct {
	names    resolver.Names
	resolver lookup.Hosts
	rejected map[int]string
	unmapped map[int]string
}

// openRegistry returns a registry for many configurations.
func openRegistry(t *testing.T) (*registry.Registry, resolver.Names) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{Set: set}
	return registry.New(registry.Config{
		Store: store, CanonicalPrefix: names.CanonicalPrefix, Now: time.Now,
		Canonical: func(text string) (string, error) {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err != nil {
				return "", err
			}
			q, err = names.Canonical(q)
			return q.URI.String(), err
		},
	}), names
}

// answer returns urnd's response to a request: the status and the location.
func (i *imported) answer(t *testing.T, origin string, r request) (status int, location string) {
	t.Helper()
	q, err := resolver.ParseQuery(origin+r.path, resolver.I2L)
	if err == nil {
		q, err = i.names.Canonical(q)
	}
	if err != nil {
		return http.StatusNotFound, ""
	}
	answer, err := i.resolver.Resolve(t.Context(), q)
	switch {
	case errors.Is(err, resolver.ErrGone):
		return http.StatusGone, ""
	case errors.Is(err, resolver.ErrNotFound) || errors.Is(err, resolver.ErrUnsupported):
		return http.StatusNotFound, ""
	case err != nil:
		t.Fatal(err)
	}
	best, most := "", -1.0
	for _, l := range answer.Locations {
		if quality := quality(r.accept, l.From.Type); quality > most {
			best, most = l.URI, quality
		}
	}
	return max(answer.Record().Redirect, 0), best
}

// quality returns the weight of a media type, "" for none, as computed by proxy/answer.
func quality(accept, mediaType string) float64 {
	ranges := map[string]float64{}
	for element := range strings.SplitSeq(accept, ",") {
		kind, q, has := strings.Cut(element, ";q=")
		if ranges[kind] = 1; has {
			ranges[kind], _ = strconv.ParseFloat(q, 64)
		}
	}
	major, _, _ := strings.Cut(mediaType, "/")
	for _, kind := range []string{mediaType, major + "/*", "*/*"} {
		if q, ok := ranges[kind]; ok && kind != "" {
			return q
		}
	}
	switch {
	case accept == "":
		return 1
	case mediaType == "":
		return 0.01
	default:
		return 0.000001
	}
}

var marker = regexp.MustCompile(`/r([0-9]+)|[?&]r=([0-9]+)`)

var ownPort = regexp.MustCompile("^:[0-9]+")

// normal normalizes a location, because servers differ in which characters they encode.
func normal(location, host, addr string) string {
	for _, own := range []string{"http://" + host, "http://" + addr, "https://" + host} {
		if rest, ok := strings.CutPrefix(location, own); ok {
			location = "https://" + host + ownPort.ReplaceAllString(rest, "")
		}
	}
	text, err := url.PathUnescape(location)
	if err != nil {
		return location
	}
	return text
}

// counts are the totals of many comparisons.
type counts struct {
	sync.Mutex

	configurations, requests, rules, taken, unreached, failed, listed int

	reasons map[string]int
}

// compare sends the same requests to a server and to the import of each configuration, and counts the
// imported rules.
func compare(t *testing.T, addr string, format bulk.Format, cases []differential) {
	t.Helper()
	n := &counts{reasons: map[string]int{}}
	t.Run("compare", func(t *testing.T) {
		for part := range slices.Chunk(cases, 100) {
			t.Run(fmt.Sprint("from ", part[0].seed), func(t *testing.T) {
				t.Parallel()
				n.compare(t, addr, format, part)
			})
		}
	})
	share := 100 * n.taken / max(n.rules, 1)
	t.Logf("%d configurations, %d requests, %d of %d rules imported (%d %%), plus %d unreachable; %d differences, "+
		"%d of listed rules",
		n.configurations, n.requests, n.taken, n.rules, share, n.unreached, n.failed, n.listed)
	for reason, times := range n.reasons {
		if times*200 > n.rules {
			t.Logf("%5d not imported: %s", times, reason)
		}
	}
	if share < 80 {
		t.Errorf("only %d %% of the rules imported", share)
	}
}

// compare compares configurations that share one registry.
func (n *counts) compare(t *testing.T, addr string, format bulk.Format, cases []differential) {
	t.Helper()
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1},
	}
	defer client.CloseIdleConnections()
	r, names := openRegistry(t)
	for _, c := range cases {
		i := newImported(t, r, names, format, &c)
		for _, requested := range c.requests {
			n.request(t, client, addr, i, c, requested)
		}
		n.Lock()
		n.configurations++
		n.requests += len(c.requests)
		for line := range c.rules {
			switch {
			case strings.Contains(i.rejected[line], "precedes it"):
				n.unreached++
				continue
			case i.rejected[line] == "":
				n.taken++
			default:
				n.reasons[variable.ReplaceAllString(i.rejected[line], "#")]++
			}
			n.rules++
		}
		n.Unlock()
	}
}

// variable matches the parts of reasons that differ between rules.
var variable = regexp.MustCompile(`[0-9]+|"[^"]*"|/\S*`)

// newImported imports a configuration.
func newImported(
	t *testing.T, r *registry.Registry, names resolver.Names, format bulk.Format, c *differential,
) *imported {
	t.Helper()
	hosts := []string{c.origin() + "/"}
	i := &imported{
		names: names, rejected: map[int]string{}, unmapped: map[int]string{},
		resolver: lookup.Hosts{Names: hosts, Resolver: lookup.Standalone{Resolver: lookup.New(lookup.Config{
			Store: r.Store(), TTL: time.Hour, Hosts: hosts, Now: time.Now, Redirect: http.StatusFound,
		})}},
	}
	run := bulk.Import{
		Registry: r, Actor: registry.Actor{Name: "anna", Role: registry.Admin}, Format: format,
		Base: c.base, Rejected: func(j bulk.Rejection) {
			into := i.rejected
			if j.Unmapped {
				into = i.unmapped
			}
			into[int(j.Line)] += j.Reason.Error() + "; "
		},
	}
	if _, err := run.Run(t.Context(), strings.NewReader(c.text)); err != nil {
		t.Fatalf("seed %d: %v\n%s", c.seed, err, c.text)
	}
	return i
}

// request compares the responses to a request. They may differ if the rule that the server applied is listed.
func (n *counts) request(
	t *testing.T, client *http.Client, addr string, i *imported, c differential, requested request,
) {
	t.Helper()
	status, location := ask(t, client, addr, c.host, requested)
	own, ownLocation := i.answer(t, c.origin(), requested)
	location, ownLocation = normal(location, c.host, addr), normal(ownLocation, c.host, addr)
	answered := status/100 == 3 || status == http.StatusGone
	if own == status && ownLocation == location || !answered && own == http.StatusNotFound {
		return
	}
	n.Lock()
	defer n.Unlock()
	if i.lists(c, status, location) {
		if own != http.StatusNotFound {
			n.listed++
		}
		return
	}
	if n.failed++; n.failed <= 15 {
		t.Errorf("seed %d: %s (Accept %q) is %d %s, and %d %s by the import\n%s\nrejected %v\nlost %v",
			c.seed, requested.path, requested.accept, status, location, own, ownLocation, numbered(c.text), i.rejected,
			i.unmapped)
	}
}

// lists reports whether the rule that the server applied is listed.
func (i *imported) lists(c differential, status int, location string) bool {
	for _, found := range marker.FindAllStringSubmatch(location, -1) {
		if line, _ := strconv.Atoi(found[1] + found[2]); i.rejected[line] != "" || i.unmapped[line] != "" {
			return true
		}
	}
	for _, line := range c.inner { // internal rewrites
		if i.rejected[line] != "" {
			return true
		}
	}
	if status/100 == 3 && marker.MatchString(location) {
		return false
	}
	return status == http.StatusGone && len(i.rejected)+len(i.unmapped) > 0 ||
		status == http.StatusMovedPermanently && len(i.rejected) > 0
}

func numbered(text string) string {
	var b strings.Builder
	for n, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%3d %s\n", n+1, line)
	}
	return b.String()
}

// ask returns the response of a server.
func ask(t *testing.T, client *http.Client, addr, host string, r request) (status int, location string) {
	t.Helper()
	head, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+r.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	head.Host = host
	if r.accept != "" {
		head.Header.Set("Accept", r.accept)
	}
	response, err := client.Do(head)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode, response.Header.Get("Location")
}
