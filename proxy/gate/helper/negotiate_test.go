package helper_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/gate/helper"
)

// challenges is a program that answers the first message with a token, and accepts the answer to it in the
// same process.
const challenges = `#!/bin/sh
while read -r command token; do
	case $command:$token in
	YR:b25l) echo "AF YQ== alice@A" ;;
	YR:bmV3) echo "OK token=\"YQ==\" user=\"bob@A\" group=g" ;;
	YR:bm8=) echo "NA no ticket" ;;
	YR:bm9i) echo "OK token=YQ==" ;;
	YR:YnJv) echo "BH no keytab" ;;
	YR:dHdv) state=$token; echo "TT $(printf $$ | base64)" ;;
	KK:*) [ "$state" = dHdv ] && echo "AF * carol" || echo "NA no state"; state= ;;
	esac
done
`

func negotiate(t *testing.T, config helper.Config) (*helper.Negotiate, *helper.Pool) {
	t.Helper()
	return negotiateBy(t, challenges, config)
}

// negotiateBy runs a script.
func negotiateBy(t *testing.T, script string, config helper.Config) (*helper.Negotiate, *helper.Pool) {
	t.Helper()
	config.Command = []string{executable(t, script)}
	pool, _ := open(t, config)
	n, err := helper.NewNegotiate(pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n, pool
}

func TestNegotiate(t *testing.T) {
	n, _ := negotiate(t, helper.Config{Processes: 1})
	for token, want := range map[string]struct {
		result helper.Result
		user   string
		token  string
		err    error
	}{
		"b25l":                              {helper.OK, "alice@A", "YQ==", nil},
		"bmV3":                              {helper.OK, "bob@A", "YQ==", nil},
		"bm8=":                              {helper.ERR, "", "", nil},
		"bm9i":                              {0, "", "", helper.ErrBroken},
		"YnJv":                              {0, "", "", helper.ErrBroken},
		"":                                  {0, "", "", helper.ErrToken},
		"a b":                               {0, "", "", helper.ErrToken},
		"YQ=":                               {0, "", "", helper.ErrToken},
		strings.Repeat("a", helper.MaxLine): {0, "", "", helper.ErrToken},
	} {
		conversation := n.Begin(alice)
		step, err := conversation.Next(t.Context(), token)
		if !errors.Is(err, want.err) || step.More || step.Answer.Result != want.result ||
			step.Answer.User() != want.user || step.Token != want.token {
			t.Errorf("%.20s: %+v, %v, want %+v", token, step, err, want)
		}
		conversation.Close()
	}
}

// Refused tokens are logged with their client, within a rate limit: any client can send them.
func TestRefusedTokensAreLogged(t *testing.T) {
	const tokens, burst = 200, 50
	start := time.Now()
	pool, log := open(t, helper.Config{
		Processes: 1, Command: []string{executable(t, challenges)},
		Now: func() time.Time { return start },
	})
	n, err := helper.NewNegotiate(pool)
	if err != nil {
		t.Fatal(err)
	}
	for range tokens {
		c := n.Begin(alice)
		if _, err := c.Next(t.Context(), "YnJv"); !errors.Is(err, helper.ErrBroken) {
			t.Fatal(err)
		}
	}
	if got := strings.Count(log.String(), `msg="negotiate login refused"`); got != burst {
		t.Errorf("%d lines for %d tokens", got, tokens)
	}
	if want := "client=" + alice.String() + ` error="helper test: `; !strings.Contains(log.String(), want) {
		t.Errorf("no %s in %.300s", want, log.String())
	}
}

// A conversation has one process to itself until its end.
func TestConversations(t *testing.T) {
	n, pool := negotiate(t, helper.Config{Processes: 4})
	conversations := []*helper.Conversation{n.Begin(alice), n.Begin(bob), n.Begin(alice)}
	seen := map[string]bool{}
	for _, c := range conversations {
		step, err := c.Next(t.Context(), "dHdv")
		if err != nil || !step.More || seen[step.Token] {
			t.Fatalf("%+v, %v", step, err)
		}
		seen[step.Token] = true
	}
	another := n.Begin(bob) // bob has one more
	if step, err := another.Next(t.Context(), "b25l"); err != nil || step.Answer.User() != "alice@A" {
		t.Errorf("%+v, %v", step, err)
	}
	for _, c := range conversations {
		if step, err := c.Next(t.Context(), "YQ=="); err != nil || step.More || step.Answer.User() != "carol" ||
			step.Token != "" {
			t.Errorf("%+v, %v", step, err)
		}
		c.Close()
	}
	if s := pool.Status(); s.Processes != 4 || s.Restarts != 0 {
		t.Errorf("%+v", s)
	}
}

// A client that does not continue loses its process, and has to start again.
func TestReservation(t *testing.T) {
	n, _ := negotiate(t, helper.Config{Processes: 1, ReservationTimeout: short})
	leaver, other := n.Begin(alice), n.Begin(bob)
	defer leaver.Close()
	defer other.Close()
	if step, err := leaver.Next(t.Context(), "dHdv"); err != nil || !step.More {
		t.Fatalf("%+v, %v", step, err)
	}
	if step, err := other.Next(t.Context(), "b25l"); err != nil || step.Answer.User() != "alice@A" {
		t.Errorf("%+v, %v", step, err)
	}
	more := n.Begin(alice) // alice has used her quota until the reservation ends
	defer more.Close()
	if step, err := more.Next(t.Context(), "b25l"); err != nil || step.Answer.User() != "alice@A" {
		t.Errorf("%+v, %v", step, err)
	}
	if step, err := leaver.Next(t.Context(), "b25l"); err != nil || step.Answer.User() != "alice@A" {
		t.Errorf("begun again: %+v, %v", step, err)
	}
}

// A conversation that is abandoned at any point releases its process.
func TestAbandonedConversations(t *testing.T) {
	n, pool := negotiate(t, helper.Config{Processes: 1, ReservationTimeout: time.Hour})
	for range 50 {
		c := n.Begin(alice)
		ctx, leave := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = c.Next(ctx, "dHdv")
			c.Close()
		}()
		leave()
		<-done
	}
	c := n.Begin(bob)
	defer c.Close()
	if step, err := c.Next(t.Context(), "bmV3"); err != nil || step.Answer.User() != "bob@A" {
		t.Errorf("%+v, %v", step, err)
	}
	testserver.Wait(t, "nothing is under way",
		func() bool { s := pool.Status(); return s.InFlight == 0 && s.Waiting == 0 })
}

// A client that disconnects before the answer keeps its quota until the answer arrives: it cannot occupy
// further processes by disconnecting.
func TestLeavers(t *testing.T) {
	path, answer := pipe(t)
	held := "#!/bin/sh\nread -r question\nread -r question <" + path + "\necho ERR\n"
	n, pool := negotiateBy(t, held+challenges, helper.Config{Processes: 2})
	ask := func(ctx context.Context) error {
		c := n.Begin(alice)
		defer c.Close()
		_, err := c.Next(ctx, "b25l")
		return err
	}
	ctx, leave := context.WithCancel(t.Context())
	requested := make(chan error)
	go func() { requested <- ask(ctx) }()
	testserver.Wait(t, "a question is under way", func() bool { return pool.Status().InFlight > 0 })
	leave()
	if err := <-requested; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	ctx, leave = context.WithTimeout(t.Context(), short)
	defer leave()
	if err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if s := pool.Status(); s.InFlight != 1 || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
	answer()
	c := n.Begin(alice)
	defer c.Close()
	if step, err := c.Next(t.Context(), "b25l"); err != nil || step.Answer.User() != "alice@A" {
		t.Errorf("%+v, %v", step, err)
	}
}

func TestNegotiateConcurrency(t *testing.T) {
	pool, _ := start(t, helper.Config{Concurrency: 2})
	if _, err := helper.NewNegotiate(pool); err == nil || !strings.Contains(err.Error(), "requires 0") {
		t.Errorf("%v", err)
	}
}
