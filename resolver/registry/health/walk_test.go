package health

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// After a checker has crashed, another one takes over. Losing the lease ends the checks of its holder, which
// records nothing any more.
func TestLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put("urn:x:1", "http://a.example/1")
		gone := registry.Lease{Store: w.store, Name: "health", Holder: "vanished", Duration: leaseTime, Now: time.Now}
		if err := gone.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop := w.run(w.config("a"))
		defer stop()
		time.Sleep(leaseTime - time.Second)
		if n := len(w.web.take()); n != 0 {
			t.Errorf("%d requests without a lease", n)
		}
		time.Sleep(leaseTime)
		if n := len(w.web.take()); n != 1 {
			t.Errorf("%d requests after the lease had run out", n)
		}
		moved := w.sweep().Moved
		for range 2 * 24 * time.Hour / (leaseTime / 2) { // it is back, and renews the lease that it took
			if err := w.store.Write(t.Context(), func(tx registry.WriteTx) error {
				return tx.SetLease("health", registry.LeaseHolder{Holder: "vanished", Until: time.Now().Add(leaseTime)})
			}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(leaseTime / 2)
		}
		if n := len(w.web.take()); n != 0 || !w.sweep().Moved.Equal(moved) {
			t.Errorf("%d requests after the lease was lost", n)
		}
	})
}

// A restarted checker continues the sweep.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const n = 48
		for i := range n {
			w.put(fmt.Sprintf("urn:x:%03d", i), fmt.Sprintf("http://a.example/%d", i))
		}
		c := w.config("one")
		c.Interval = 4 * time.Hour
		for i := range 4 {
			c.Holder = fmt.Sprint(i)
			stop := w.run(c)
			time.Sleep(c.Interval/4 - time.Minute)
			stop()
			time.Sleep(time.Minute)
		}
		urls := w.web.urls()
		slices.Sort(urls)
		if all := slices.Compact(slices.Clone(urls)); len(all) != n || len(urls) != n {
			t.Errorf("%d requests, %d targets", len(urls), len(all))
		}
	})
}

// After a long time without checks the rest of the sweep is spread evenly, and not done in one burst.
func TestLongPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const n = 40
		for i := range n {
			w.put(fmt.Sprintf("urn:x:%03d", i), fmt.Sprintf("http://a.example/%d", i))
		}
		c := w.config("one")
		c.Interval = 4 * time.Hour
		stop := w.run(c)
		time.Sleep(time.Hour)
		stop()
		first := len(w.web.take())
		time.Sleep(365 * 24 * time.Hour)
		stop = w.run(c)
		time.Sleep(time.Hour)
		if next := len(w.web.take()); first < n/4-1 || first > n/4+2 || next < n/4-1 || next > n/4+2 {
			t.Errorf("%d requests in an hour, %d in an hour after a year", first, next)
		}
		stop()
	})
}

// A sweep of a checker whose clock was far ahead is continued, and not only when its time has come.
func TestClockWasAhead(t *testing.T) {
	for _, ran := range []time.Duration{time.Hour, 3*time.Hour + 59*time.Minute} { // with names that are left, without
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			const n = 40
			for i := range n {
				w.put(fmt.Sprintf("urn:x:%03d", i), fmt.Sprintf("http://a.example/%d", i))
			}
			c := w.config("one")
			c.Interval = 4 * time.Hour
			c.Now = func() time.Time { return time.Now().Add(365 * 24 * time.Hour) }
			stop := w.run(c)
			time.Sleep(ran)
			stop()
			w.web.take()
			c.Now = time.Now
			stop = w.run(c)
			time.Sleep(time.Hour)
			if next := len(w.web.take()); next < n/4-1 || next > n/4+2 {
				t.Errorf("after %s: %d requests in an hour", ran, next)
			}
			stop()
		})
	}
}

// Pages pass each name once, and each stored target without a name once, whatever their sizes are.
func TestPages(t *testing.T) {
	w := newWorld(t)
	var kept []Target
	add := func(name, uri string) {
		kept = append(kept, Target{Name: name, URI: uri, State: Suspect})
	}
	names := 0
	for i := range 300 {
		name := fmt.Sprintf("urn:x:%04d", i)
		if i%3 == 0 {
			w.put(name, "http://a.example/"+name, "http://b.example/"+name)
			add(name, "http://a.example/"+name)
			names++
		}
		for j := range i % 20 {
			add(name, fmt.Sprintf("http://orphan.example/%d", j))
		}
	}
	add("urn:x:a", "http://orphan.example/") // after all names
	err := w.store.Write(t.Context(), func(tx registry.WriteTx) error {
		for i := range kept {
			if err := kept[i].put(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 7, maxPage} {
		var jobs, known, passed int
		gone := make(map[registry.HealthKey]bool)
		err := w.store.Read(t.Context(), func(tx registry.Tx) error {
			for after := ""; ; {
				p, err := readPage(tx, "", after, size, time.Now())
				if err != nil {
					return err
				}
				if p.last <= after && !p.end {
					return errors.New("no progress after " + after)
				}
				passed += p.n
				for _, j := range p.jobs {
					jobs++
					if j.known {
						known++
					}
				}
				for _, key := range p.gone {
					gone[key] = true
				}
				if p.end {
					return nil
				}
				after = p.last
			}
		})
		if err != nil || passed != names || jobs != 2*names || known != names || len(gone) != len(kept)-names {
			t.Errorf("pages of %d: %v, %d names, %d jobs, %d known, %d of %d gone", size, err, passed, jobs, known,
				len(gone), len(kept)-names)
		}
	}
}

// Damaged target documents cause an error, and no requests are sent in vain.
func TestDamaged(t *testing.T) {
	w := newWorld(t)
	if err := w.store.Write(t.Context(), func(tx registry.WriteTx) error {
		return errors.Join(tx.PutHealth(registry.Health{
			Name: "urn:x:1", URI: "http://a.example/", State: "suspect",
			Detail: []byte("{"),
		}),
			tx.Put(registry.TableMarks, []registry.Document{{Key: keySweep, Value: []byte("[]")}}))
	}); err != nil {
		t.Fatal(err)
	}
	if err := List(t.Context(), w.store, "", "", func(Target) error { return nil }); !errors.Is(err,
		registry.ErrDamaged) {
		t.Errorf("%v", err)
	}
	if _, err := ReadSweep(t.Context(), w.store); !errors.Is(err, registry.ErrDamaged) {
		t.Errorf("%v", err)
	}
}

func TestNext(t *testing.T) {
	begin := time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		results []Outcome
		every   time.Duration
		state   State
		keep    bool
	}{
		{"one failure", []Outcome{Failing}, time.Hour, Suspect, true},
		{"three within an hour", []Outcome{Failing, Gone, Failing}, 30 * time.Minute, Suspect, true},
		{"three in a day", []Outcome{Failing, Gone, Failing}, 12 * time.Hour, Unhealthy, true},
		{"two in a week", []Outcome{Failing, Failing}, 7 * 24 * time.Hour, Suspect, true},
		{"interrupted", []Outcome{Failing, Failing, Alive, Failing}, 24 * time.Hour, Suspect, true},
		{"nothing was learnt", []Outcome{Failing, Later, Failing, Unchecked, Failing}, 12 * time.Hour, Unhealthy, true},
		{"one success after a failure", []Outcome{Failing, Guarded}, 24 * time.Hour, Healthy, false},
		{"healthy again", []Outcome{Gone, Gone, Gone, Alive}, 24 * time.Hour, Healthy, true},
		{"healthy for long", []Outcome{Gone, Gone, Gone, Alive, Alive}, 91 * 24 * time.Hour, Healthy, false},
		{"forbidden", []Outcome{Forbidden}, time.Hour, Inaccessible, true},
		{"only later", []Outcome{Later}, time.Hour, Healthy, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			target, keep := Target{}, false
			for i, o := range c.results {
				target, keep = target.next(Result{Outcome: o}, begin.Add(time.Duration(i)*c.every))
			}
			if target.State != c.state || keep != c.keep {
				t.Errorf("%s, kept %t", target.State, keep)
			}
		})
	}
	target := Target{}
	for i := range 100 {
		target, _ = target.next(Result{Outcome: []Outcome{Failing, Alive}[i%2]}, begin.Add(time.Duration(i)*time.Hour))
	}
	if len(target.History) != maxHistory || !target.History[maxHistory-1].At.Equal(begin.Add(99*time.Hour)) {
		t.Errorf("%d transitions", len(target.History))
	}
}
