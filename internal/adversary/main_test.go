package adversary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// category contains payloads that run on one daemon, several at a time.
type category struct {
	name    string
	workers int
	// environment settings of its daemon
	settings []string
	// prepare is called before the daemon starts; nil does nothing.
	prepare  func(*stage) error
	payloads func(*stage) []payload
	// after checks the final state when all payloads have run; nil checks nothing.
	after func(*stage) error
	// releases is set if the daemon must release all resources after each family of payloads.
	releases bool
}

// categories is the table of all categories. Expensive ones run alone.
func categories() []category {
	return []category{
		{
			name: "framing", workers: 16, settings: []string{"URND_LIMITS_CLIENT_SHARE=100"}, payloads: framing,
			after: func(s *stage) error { return s.origin.confusion() },
		},
		{name: "ssrf", workers: 16, payloads: ssrf, after: func(s *stage) error { return s.canary.heard() }},
		{name: "spoofing", workers: 8, payloads: spoofing, after: func(s *stage) error { return s.canary.heard() }},
		{name: "floods", workers: 2, payloads: floods},
		{
			name: "floods of frames", workers: 2, settings: siteSettings(), prepare: prepareSite, releases: true,
			payloads: func(s *stage) []payload { return s.frameFloods() },
		},
		{
			name: "frames", workers: 32, settings: siteSettings(), prepare: prepareSite, payloads: framesOfClients,
			after: func(s *stage) error { return s.origin.confusion() }, releases: true,
		},
		{
			name: "connections", workers: 32, settings: siteSettings(), prepare: prepareSite,
			payloads: connectionsOfClients, after: func(s *stage) error { return s.origin.confusion() }, releases: true,
		},
		{name: "faults", workers: 4, payloads: failures},
		{name: "clients", workers: 12, prepare: prepareClients, payloads: clients},
		{
			name: "clients at random", workers: 8, prepare: prepareClientsOnDisk, payloads: randomClients,
			after: logPlayed,
		},
		{name: "forms", workers: 4, prepare: prepareForms, payloads: forms},
		{name: "random", workers: 4, payloads: random},
	}
}

// TestMain runs everything if ADVERSARY sets the time: "short", or a duration.
func TestMain(m *testing.M) {
	length := os.Getenv("ADVERSARY")
	if length == "" {
		os.Exit(m.Run())
	}
	report, err := run(length, os.Getenv("ADVERSARY_ONLY"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	report.write(os.Stdout)
	if report.failed() {
		os.Exit(1)
	}
}

// run builds the daemon and runs the categories. only is the name of a category or a family, "" for all.
func run(length, only string) (report, error) {
	var long time.Duration
	if length != "short" {
		var err error
		if long, err = time.ParseDuration(length); err != nil {
			return nil, fmt.Errorf("ADVERSARY is neither short nor a duration: %w", err)
		}
	}
	directory, err := os.MkdirTemp("", "adversary")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	binary := filepath.Join(directory, "urnd")
	build := exec.Command("go", "build", "-pgo=off", "-trimpath", "-o", binary, "../../cmd/urnd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building urnd: %w\n%s", err, output)
	}
	var all report
	for _, c := range categories() {
		row, err := c.play(binary, directory, only, long)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		if len(row.verdicts) > 0 {
			all = append(all, row)
		}
	}
	return all, nil
}

// play runs the payloads of a category on a separate daemon.
func (c category) play(binary, directory, only string, long time.Duration) (row, error) {
	began := time.Now()
	ctx := context.Background()
	directory, err := os.MkdirTemp(directory, c.name)
	if err != nil {
		return row{}, err
	}
	s, err := newStage(binary, directory, long)
	if err != nil {
		return row{}, err
	}
	defer s.close()
	if c.prepare != nil {
		if err := c.prepare(s); err != nil {
			return row{}, err
		}
	}
	starting, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	if s.daemon, err = s.start(starting, c.settings...); err != nil {
		return row{}, err
	}
	if s.arena != nil {
		s.arena.uses(s.daemon)
	}
	payloads := c.payloads(s)
	if only != "" && only != c.name {
		payloads = slices.DeleteFunc(payloads, func(p payload) bool { return !strings.HasPrefix(p.family, only) })
	}
	if len(payloads) == 0 {
		return row{}, nil
	}
	before, err := c.usage(starting, s)
	if err != nil {
		return row{}, err
	}
	verdicts := c.playAll(ctx, s, before, payloads)
	verdicts = append(verdicts, c.last(ctx, s)...)
	return row{c.name, verdicts, time.Since(began)}, nil
}

// playAll runs the families in order, each followed by a normal request. It stops if urnd has ended, because
// later results would be meaningless.
func (c category) playAll(ctx context.Context, s *stage, before usage, payloads []payload) []verdict {
	var all []verdict
	for len(payloads) > 0 {
		n := 1
		for n < len(payloads) && payloads[n].family == payloads[0].family {
			n++
		}
		all = append(all, c.playFamily(ctx, payloads[:n])...)
		health := payload{family: payloads[0].family, name: "urnd afterwards", section: "RFC 9110 section 3.3"}
		health.play = func(ctx context.Context) error {
			if err := s.takeAlarms(); err != nil {
				return err
			}
			if err := s.answers(ctx); err != nil || !c.releases {
				return err
			}
			const mostMemory = 300 // MiB
			return errors.Join(s.releases(ctx, before), s.below(mostMemory))
		}
		if v := health.judge(ctx); v.failure != nil {
			all = append(all, v)
			if s.crashed() != nil {
				return all
			}
		}
		payloads = payloads[n:]
	}
	return all
}

// usage returns the resources of the daemon before the first payload, if required.
func (c category) usage(ctx context.Context, s *stage) (usage, error) {
	if !c.releases {
		return usage{}, nil
	}
	if err := s.answers(ctx); err != nil {
		return nil, err
	}
	return s.usage(ctx)
}

func (c category) playFamily(ctx context.Context, payloads []payload) []verdict {
	verdicts := make([]verdict, len(payloads))
	next := make(chan int)
	var workers sync.WaitGroup
	for range c.workers {
		workers.Go(func() {
			for i := range next {
				verdicts[i] = payloads[i].judge(ctx)
			}
		})
	}
	for i := range payloads {
		next <- i
	}
	close(next)
	workers.Wait()
	return verdicts
}

// last returns failures that are only detected at the end of a category.
func (c category) last(ctx context.Context, s *stage) []verdict {
	var all []verdict
	if c.after != nil {
		after := payload{family: c.name, name: "what the peers have seen", section: "-"}
		after.play = func(context.Context) error { return c.after(s) }
		all = append(all, after.judge(ctx))
	}
	end := payload{family: c.name, name: "the end of urnd", section: "-", play: s.stopAll}
	return append(all, end.judge(ctx))
}
