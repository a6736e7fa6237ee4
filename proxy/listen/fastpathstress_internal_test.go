package listen

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// stressRequests are requests with their answers.
var stressRequests = [][2]string{
	{fastRequest, fastAnswer},
	{fastRequest, fastAnswer},
	{slowRequest, slowAnswer},
	{"POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 31\r\n\r\n" + fastRequest, "200 POST /slow " + fastRequest},
	{"PUT /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 31\r\n\r\n" + fastRequest, "200 PUT /unread "},
	{"GET /slow HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 600) + "\r\n\r\n", slowAnswer},
}

// converse sends requests, divided anywhere, and returns whether urnd has asked to close the connection, or has closed
// it between two responses.
func (c fastClient) converse(random *rand.Rand) (isOver bool, err error) {
	var octets strings.Builder
	var want []string
	for range 1 + random.IntN(12) {
		r := stressRequests[random.IntN(len(stressRequests))]
		octets.WriteString(r[0])
		want = append(want, r[1])
	}
	var sending sync.WaitGroup
	defer sending.Wait()
	cut := random.IntN(octets.Len())
	sending.Go(func() {
		for _, part := range []string{octets.String()[:cut], octets.String()[cut:]} {
			_, _ = c.Write([]byte(part)) // what is not sent is not answered
		}
	})
	for i, want := range want {
		if _, err := c.in.Peek(1); err != nil {
			return true, nil
		}
		got := c.receive()
		switch {
		case got == want+" close":
			return true, nil
		case got != want:
			return false, fmt.Errorf("answer %d is %.100q, not %.100q", i, got, want)
		}
	}
	return false, nil
}

// Many clients whose requests take both paths get whole responses, in order, until the server ends.
func TestFastPathStress(t *testing.T) {
	for seed := range uint64(8) {
		s := serveFast(t, nil)
		var batches atomic.Int64
		var isEnding atomic.Bool
		var clients sync.WaitGroup
		for i := range uint64(16) {
			random, c := rand.New(rand.NewPCG(seed, i)), s.dial(t)
			clients.Go(func() {
				for ; ; batches.Add(1) {
					isOver, err := c.converse(random)
					if err != nil || isOver && !isEnding.Load() {
						t.Errorf("client %d of run %d: ended %v: %v", i, seed, isOver, err)
					}
					if err != nil || isOver {
						return
					}
				}
			})
		}
		testserver.Wait(t, "requests are answered", func() bool { return batches.Load() > 200 || t.Failed() })
		isEnding.Store(true)
		if seed%2 == 0 {
			go s.server.Announce(t.Context())
		} else {
			s.replace()
			s.end()
		}
		clients.Wait()
		s.replace()
		s.end()
		s.stopped(t)
	}
}
