package adversary

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// randomClients are random combinations of attacks, within the time of the run. Each worker has its own
// origins, which earlier attackers have also attacked.
func randomClients(s *stage) (all []payload) {
	length := shortRandom
	if s.long > 0 {
		length = s.long
	}
	base := uint64(time.Now().UnixNano())
	if seed, err := strconv.ParseUint(os.Getenv("ADVERSARY_SEED"), 10, 64); err == nil {
		base = seed // seed of the first worker
	}
	for worker := range 8 {
		seed := base + uint64(worker)
		all = append(all, payload{
			name: fmt.Sprintf("attacks of the seed %d", seed), section: "RFC 9111", shows: fmt.Sprint(seed),
			play: func(ctx context.Context) error {
				return s.arena.playRandom(context.WithoutCancel(ctx), rand.New(rand.NewPCG(seed, 0)), 2*worker,
					time.Now().Add(length))
			},
		})
	}
	return inFamily("clients at random", all)
}

// logPlayed prints the number of random attacks.
func logPlayed(s *stage) error {
	_, err := fmt.Printf("clients at random: %d attacks\n", s.arena.played.Load())
	return err
}

// playRandom runs attacks until a time, and returns the first that a victim did not survive.
func (a *arena) playRandom(ctx context.Context, source *rand.Rand, server int, end time.Time) error {
	const most = 5
	var failures []error
	for n := 0; time.Now().Before(end) && len(failures) < most; n++ {
		d := a.randomDuel(source, server)
		attempt, cancel := context.WithTimeout(ctx, waitLimit)
		if err := d.run(attempt); err != nil {
			failures = append(failures, fmt.Errorf("attack %d: %s: %s: %w", n, d, d.shows(), err))
		}
		cancel()
		a.played.Add(1)
		if a.process.crashed() != nil {
			break
		}
	}
	return errors.Join(failures...)
}

// pick returns a random element.
func pick[T any](source *rand.Rand, all []T) T { return all[source.IntN(len(all))] }

// randomDuel composes an attack and a victim.
func (a *arena) randomDuel(source *rand.Rand, server int) *duel {
	s := randomSite(source)
	one := attack{name: fmt.Sprintf("%q", s.fields), site: s, moment: randomMoment(source)}
	one.site.gated = one.moment != before && one.moment != sharing && one.moment < reading
	if one.moment >= reading && one.site.size == 0 {
		one.site.size = 64 << 10
	}
	for range 1 + source.IntN(3) {
		one.requests = append(one.requests, randomRequest(source))
	}
	// The routes of one resource may differ in the version, but not in the scheme.
	ways := pick(source, [][]route{{site1, site10}, {siteTLS, siteH2}, {forward1, forward10}})
	if source.IntN(12) == 0 && !one.site.gated {
		one = stormy(one, source)
	}
	d := &duel{arena: a, attack: one, victimRoute: pick(source, ways), shape: pick(source, shapes()), server: server}
	d.attackerRoute = d.victimRoute
	if one.moment != sharing {
		d.attackerRoute = pick(source, ways)
	}
	return d
}

// randomMoment returns mostly moments without delays.
func randomMoment(source *rand.Rand) moment {
	switch n := source.IntN(100); {
	case n < 60:
		return before
	case n < 70:
		return sharing
	case n < 90:
		return together
	default:
		return pick(source, []moment{delaying, leaving, failing, reading, quitting})
	}
}

// randomSite returns an origin with random freshness, Vary and error conditions.
func randomSite(source *rand.Rand) (s site) {
	freshness := pick(
		source,
		[][]string{
			explicit, explicit, heuristic, public,
			{"Cache-Control: max-age=0, stale-while-revalidate=600"},
			{"Cache-Control: private"},
			nil,
		},
	)
	s.fields = append(s.fields, freshness...)
	if source.IntN(3) == 0 {
		names := []string{
			"Accept-Language", "Cookie", "X-Evil", "Accept, Accept-Language", "Authorization",
			"User-Agent",
		}
		s.fields = append(s.fields, "Vary: "+pick(source, names))
	}
	switch {
	case len(freshness) > 0 && freshness[0] == public[0]: // declared for all requests: RFC 9111 section 3.5
		s.ignores = []string{"cookie", "authorization"}
	case len(freshness) > 0 && freshness[0] != heuristic[0]:
		s.ignores = []string{"cookie"}
	}
	s.size, s.chunked = pick(source, []int{0, 0, 0, 4096, 100_000, 2 << 20}), source.IntN(3) == 0
	if source.IntN(4) == 0 {
		s.reacts = randomDislike(source)
	}
	return s
}

// randomDislike returns how an origin responds to requests that it rejects.
func randomDislike(source *rand.Rand) func(v *visit) (int, []string) {
	status := pick(source, []int{301, 302, 308, 400, 403, 404, 405, 410, 413, 414, 431, 500, 501, 503})
	dislikes := pick(source, []func(v *visit) bool{
		// Otherwise the stored response would be correct, too.
		func(v *visit) bool { return v.Header.Get("Range") != "" && !v.isVictim() },
		func(v *visit) bool { return v.content != "" },
		func(v *visit) bool { return v.Header.Get("X-Evil") != "" },
		func(v *visit) bool { return v.Method != http.MethodGet && v.Method != http.MethodHead },
	})
	if source.IntN(2) == 0 { // a fresh error is only for the client that caused it; a redirect is not always
		status = pick(source, []int{400, 403, 404, 405, 410, 413, 414, 431, 500, 501, 503})
		dislikes = pick(source, []func(v *visit) bool{
			func(v *visit) bool { return len(v.Header.Get("Cookie")) > 4096 },
			func(v *visit) bool { return v.Header.Get("If-Match") != "" },
		})
	}
	return func(v *visit) (int, []string) {
		if !dislikes(v) {
			return http.StatusOK, nil
		}
		return status, []string{"Location: http://" + v.Host + "/next"}
	}
}

// randomRequest returns a request with fields of the tables and of no user.
func randomRequest(source *rand.Rand) (r sending) {
	if source.IntN(6) == 0 {
		r.method = pick(source, []string{"HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "QUERY", "get"})
	}
	if source.IntN(8) == 0 {
		r.body = strings.Repeat("evil", 1+source.IntN(100))
	}
	if source.IntN(8) == 0 {
		r.host = "{HOST}"
	}
	for range source.IntN(5) {
		r.fields = append(r.fields, randomField(source))
	}
	return r
}

func randomField(source *rand.Rand) string {
	switch source.IntN(6) {
	case 0:
		return pick(source, unlisted())
	case 1:
		letters := make([]byte, 1+source.IntN(12))
		for i := range letters {
			letters[i] = "abcdefghijklmnopqrstuvwxyz-_0"[source.IntN(29)]
		}
		return "X" + string(letters) + ": evil"
	case 2:
		return pick(
			source,
			[]string{
				"Cookie: session=attacker", "Cookie: a=" + strings.Repeat("a", 9000), "Authorization: Bearer attacker",
				"Authorization: Basic YTph", "X-Evil: 1", "X_Evil: 1",
			},
		)
	case 3:
		return pick(source, []string{
			"Range: bytes=99999999-", "Range: bytes=0-4", "Range: bytes=-5", "Range: bytes=5-", "If-Range: \"other\"",
			"If-None-Match: *", "If-None-Match: \"other\"", "If-Match: \"other\"",
			"If-Modified-Since: Mon, 02 Jan 2006 15:04:05 GMT", "If-Unmodified-Since: Mon, 02 Jan 2006 15:04:05 GMT",
		})
	case 4:
		return pick(source, []string{
			"Cache-Control: no-cache", "Cache-Control: no-store", "Cache-Control: max-age=0",
			"Cache-Control: max-stale", "Cache-Control: only-if-cached", "Pragma: no-cache",
			"Connection: Cookie, X-Evil", "Expect: 100-continue", "TE: trailers", "Max-Forwards: 0",
			"Content-Type: text/evil",
		})
	default:
		return pick(source, []string{
			"Accept: evil", "Accept-Language: evil", "Accept-Encoding: gzip", "Referer: http://evil.example/",
			"Sec-Fetch-Site: cross-site", "Accept-Charset: evil", "Traceparent: evil",
			"Accept-Language: " + strings.Repeat("evil,", 1000),
		})
	}
}
