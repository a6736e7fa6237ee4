//go:build e2e

package registry

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// serve runs urnd with the store and without a responding DNS server.
func (s store) serve(t *testing.T) *urndtest.Daemon {
	t.Helper()
	d := urndtest.Start(t, "127.0.0.1:1", func(c *config.Config) {
		c.Registry.Store, c.Registry.Owned, c.Cache.Directory = s.url, []string{"urn:"}, t.TempDir()
		c.DDDS.Enabled = false
	})
	testserver.Wait(t, "the registry is open",
		func() bool { return strings.Contains(d.Scrape(t), "\nurnd_registry_available 1\n") })
	return d
}

// patches are sequential changes through the API, each with a unique note.
type patches struct {
	client       *http.Client
	acknowledged []string // notes
	took         []time.Duration
}

// patch changes a name and returns the status.
func (p *patches) patch(t *testing.T, d *urndtest.Daemon, name, note string) int {
	body := fmt.Sprintf(`{"targets":[{"uri":"https://patch.example/%s"}],"note":%q}`, note, note)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, d.Admin+"/api/v1/names?uri="+name,
		strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	r.Header.Set("Content-Type", "application/merge-patch+json")
	began := time.Now()
	response, err := p.client.Do(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK || err != nil {
		t.Errorf("PATCH of %s: %s, %s, %v", name, response.Status, text, err)
		return response.StatusCode
	}
	p.acknowledged, p.took = append(p.acknowledged, note), append(p.took, time.Since(began))
	return response.StatusCode
}

// TestImportsBesideChanges runs two imports that change the same names, one by a command and one through the
// API, and concurrent changes through the API: no acknowledged change is lost, and each gets a response within
// a time limit.
func TestImportsBesideChanges(t *testing.T) {
	onBoth(t, func(t *testing.T, newStore func(t *testing.T, name string) store) {
		s := newStore(t, "names")
		const n, writers, least = 2000, 8, 20
		s.run(t, "import", table(t, "a", n, "https://before.example/"))
		d := s.serve(t)
		one, two := table(t, "a", n, "https://one.example/"), table(t, "a", n+500, "https://two.example/")

		posted := urndtest.Send(t, "POST "+d.Admin+"/api/v1/jobs?overwrite=true", urndtest.ReadFile(t, two),
			"Content-Type: text/csv")
		if posted.Status != http.StatusAccepted {
			t.Fatalf("%+v", posted)
		}
		job := posted.Header.Get("Location")
		_, command := s.begin(t, "import", "--overwrite", one)

		var all [writers]patches
		var running sync.WaitGroup
		imported := make(chan struct{})
		began := time.Now()
		for i := range all {
			all[i].client = &http.Client{Timeout: testserver.Timeout, Transport: new(http.Transport)}
			running.Go(func() {
				defer all[i].client.CloseIdleConnections()
				for k := 0; ; k++ {
					select {
					case <-imported:
						if k >= least {
							return
						}
					default:
					}
					name := fmt.Sprintf("urn:example:a%05d", (k*writers+i)*37%n)
					if all[i].patch(t, d, name, fmt.Sprintf("%d-%d", i, k)) != http.StatusOK {
						return
					}
				}
			})
		}
		if err := <-command; err != nil {
			t.Errorf("the command: %v", err)
		}
		testserver.Wait(t, "the job is done", func() bool {
			var state struct{ State string }
			_, text := d.AdminRequest(t, "GET "+job)
			if err := json.Unmarshal([]byte(text), &state); err != nil || state.State == "failed" {
				t.Fatalf("%s, %v", text, err)
			}
			return state.State == "done"
		})
		close(imported)
		running.Wait()
		took := time.Since(began)

		history := make(map[string]int)
		for line := range strings.Lines(s.run(t, "export", "--history")) {
			var version struct{ Note string }
			if err := json.Unmarshal([]byte(line), &version); err != nil {
				t.Fatal(err)
			}
			history[version.Note]++
		}
		var times []time.Duration
		for i := range all {
			times = append(times, all[i].took...)
			for _, note := range all[i].acknowledged {
				if history[note] != 1 {
					t.Errorf("the change %s is %d times in the history", note, history[note])
				}
			}
		}
		s.sound(t)
		if len(times) < writers*least {
			t.Fatalf("%d changes were acknowledged", len(times))
		}
		slices.Sort(times)
		t.Logf("%d changes in %v, %.0f a second: p50 %v, p99 %v, most %v", len(times), took,
			float64(len(times))/took.Seconds(),
			times[len(times)/2], times[len(times)*99/100], times[len(times)-1])
	})
}
