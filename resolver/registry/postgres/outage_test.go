package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/postgres"
)

// outcomes are the results of the writes of one writer. Each write sets the target of its name to the number of
// the write.
type outcomes struct {
	acknowledged, refused []string
	failures              []string
}

// keepWriting sets a name to successive targets, until ctx ends.
func keepWriting(ctx context.Context, i *instance, name string) (o outcomes) {
	for n := 1; ctx.Err() == nil; n++ {
		target := fmt.Sprintf("https://example.org/%s/%d", name, n)
		_, err := i.Apply(ctx, admin, edit(name, target))
		switch {
		case err == nil:
			o.acknowledged = append(o.acknowledged, target)
		case !errors.Is(err, registry.ErrUnavailable):
			o.failures = append(o.failures, err.Error())
		case !errors.Is(err, postgres.ErrUnknownOutcome):
			o.refused = append(o.refused, target)
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond): // the server is unavailable
			}
		}
	}
	return o
}

// check compares the history of a name with the results.
func (o outcomes) check(t *testing.T, i *instance, name string) {
	t.Helper()
	for _, failure := range o.failures {
		t.Errorf("writing %s: %s", name, failure)
	}
	versions, err := i.History(t.Context(), registry.Name(name), 0, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[string]int)
	for n, v := range versions {
		times[v.Targets[0].URI]++
		if v.Version != len(versions)-n {
			t.Errorf("%s has version %d at the place of %d", name, v.Version, len(versions)-n)
		}
	}
	for _, target := range o.acknowledged {
		if times[target] != 1 {
			t.Errorf("%s was acknowledged, and is there %d times", target, times[target])
		}
	}
	for _, target := range o.refused {
		if times[target] != 0 {
			t.Errorf("%s was refused, and is there", target)
		}
	}
	t.Logf("%s: %d acknowledged, %d refused, %d versions", name, len(o.acknowledged), len(o.refused), len(versions))
}

// TestOutage disconnects two instances from their server, restarts it and kills it, while both write. The
// environment variable OUTAGE sets the duration of each outage, such as 60s.
func TestOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	outage := time.Second
	if text := os.Getenv("OUTAGE"); text != "" {
		var err error
		if outage, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	server := testserver.StartPostgres(t)
	relay := testserver.StartRelay(t, server.Socket())
	url := server.URLAt(relay.Addr(), "")
	const every = 250 * time.Millisecond
	instances := []*instance{start(t, url, every), start(t, url, every)}
	ctx, cancel := context.WithCancel(t.Context())
	all := make([]outcomes, len(instances))
	var writers sync.WaitGroup
	for n, i := range instances {
		writers.Go(func() { all[n] = keepWriting(ctx, i, fmt.Sprintf("urn:example:%d", n)) })
	}
	for _, c := range []struct {
		name       string
		begin, end func()
	}{
		{"cut off", relay.Cut, relay.Restore},
		{"restarted", server.Stop, server.Start},
		{"killed", server.Kill, server.Start},
	} {
		testserver.Wait(t, "both write", func() bool { return allNotified(instances, time.Now().Add(-time.Second)) })
		c.begin()
		<-time.After(outage) // duration of the outage
		c.end()
		back := time.Now()
		testserver.Wait(t, "both know of the writes of the other", func() bool { return allNotified(instances, back) })
		took := time.Since(back)
		t.Logf("%s: the feeds agree %v after the return", c.name, took)
		if took > time.Second {
			t.Errorf("%s: the feeds agree only %v after the return", c.name, took)
		}
	}
	cancel()
	writers.Wait()
	for n := range instances {
		all[n].check(t, instances[1-n], fmt.Sprintf("urn:example:%d", n))
	}
}

// allNotified reports whether each feed has reported all names since a time.
func allNotified(instances []*instance, since time.Time) bool {
	for _, i := range instances {
		for n := range instances {
			if at, ok := i.notified(fmt.Sprintf("urn:example:%d", n)); !ok || at.Before(since) {
				return false
			}
		}
	}
	return true
}

// childURL is the environment variable of the child process that writes until it is killed.
const childURL = "URND_TEST_POSTGRES"

// TestChild runs in the child process, and prints each acknowledged write.
func TestChild(t *testing.T) {
	url := os.Getenv(childURL)
	if url == "" {
		t.Skip("it is run by TestKilledInstance")
	}
	i := connect(t, url)
	for n := 0; ; n++ {
		name := fmt.Sprintf("urn:example:%d:%d:", os.Getpid(), n)
		if _, err := i.Apply(t.Context(), admin, edit(name+"a", "https://example.org/"),
			edit(name+"b", "https://example.org/")); err != nil {
			t.Fatal(err)
		}
		fmt.Println("ok " + name)
	}
}

// TestKilledInstance kills an instance while it writes; another one can continue immediately.
func TestKilledInstance(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	server := testserver.StartPostgres(t)
	i := connect(t, server.URL(""))
	defer i.store.Close()
	for round := range 5 {
		acknowledged := runAndKill(t, server.URL(""), 20+7*round)
		began := time.Now()
		i.set(t, fmt.Sprintf("urn:example:after:%d", round), "https://example.org/")
		if took := time.Since(began); took > time.Second {
			t.Errorf("the next write took %v", took)
		}
		for _, name := range acknowledged {
			for _, end := range []string{"a", "b"} {
				if e, err := i.store.Lookup(t.Context(), registry.Name(name+end)); err != nil || e.Version != 1 {
					t.Errorf("%s%s was acknowledged: %+v, %v", name, end, e, err)
				}
			}
		}
	}
	for question, want := range map[string]string{
		"SELECT count(*) FROM name WHERE key LIKE '%a'": server.Query("",
			"SELECT count(*) FROM name WHERE key LIKE '%b'"),
		"SELECT count(*) FROM version": server.Query("", "SELECT count(*) FROM name"),
		"SELECT max(seq) FROM version": server.Query("", "SELECT count(*) FROM version"),
	} {
		if got := server.Query("", question); got != want {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}
	err := i.store.Read(t.Context(), func(tx registry.Tx) error {
		totals, err := tx.Totals()
		if want := server.Query("", "SELECT count(*) FROM name"); fmt.Sprint(totals["urn:example"].Active) != want {
			t.Errorf("totals %+v, want %s", totals, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// runAndKill runs TestChild until it has printed some lines, kills it, and returns the acknowledged names.
func runAndKill(t *testing.T, url string, lines int) (acknowledged []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestChild$")
	cmd.Env = append(os.Environ(), childURL+"="+url)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for scanner := bufio.NewScanner(output); scanner.Scan(); {
		if name, ok := strings.CutPrefix(scanner.Text(), "ok "); ok {
			acknowledged = append(acknowledged, name)
		}
		if len(acknowledged) == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	if len(acknowledged) < lines {
		t.Fatalf("the instance has ended after %d writes", len(acknowledged))
	}
	return acknowledged
}
