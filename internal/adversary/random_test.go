package adversary

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// shortRandom is the duration of random requests in the short form.
const shortRandom = 3 * time.Second

// random are requests of the tables with random modifications, within the time of the run. The correct response
// is unknown, but urnd must survive, and every response must be valid.
func random(s *stage) []payload {
	length := shortRandom
	if s.long > 0 {
		length = s.long
	}
	var seeds []string
	for _, r := range append(append(append(requestLines(), fieldLines()...), append(hosts(), contentLengths()...)...),
		append(append(transferCodings(),
			chunks()...), connectionOptions()...)...) {
		if len(r.bytes) < 4096 {
			seeds = append(seeds, strings.NewReplacer("{smuggled}", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "{o}",
				s.origin.address, "{id}", "random").Replace(r.bytes))
		}
	}
	var payloads []payload
	for worker := range 4 {
		seed := uint64(time.Now().UnixNano()) + uint64(worker)
		payloads = append(payloads, payload{
			name: fmt.Sprintf("random changes of the seed %d", seed), section: "RFC 9112", shows: fmt.Sprint(seed),
			play: func(ctx context.Context) error {
				source := rand.New(rand.NewPCG(seed, 0))
				end := time.Now().Add(length)
				for n := 0; time.Now().Before(end); n++ {
					// Answered in the goroutine that reads the connection.
					before := strings.Repeat(cached, source.IntN(3))
					if err := s.survives(context.WithoutCancel(ctx), before+mutated(source, seeds)); err != nil {
						return fmt.Errorf("request %d: %w", n, err)
					}
				}
				return nil
			},
		})
	}
	return inFamily("random", payloads)
}

// survives sends bytes, and returns an error if the result is not a sequence of responses, or contains a 500.
func (s *stage) survives(ctx context.Context, data string) error {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	conn, err := connect(ctx, s.service, friend)
	if err != nil {
		return err
	}
	defer conn.Close()
	// The client half-closes immediately, so that urnd does not wait.
	go func() {
		_, _ = conn.Write([]byte(data))
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}()
	text, err := dialogue(ctx, conn, "")
	if err != nil {
		return fmt.Errorf("%w: %.500q", err, data)
	}
	if strings.Contains(string(text), " 500 Internal Server Error\r\n") {
		return fmt.Errorf("500 for %.500q", data)
	}
	if len(text) > 0 && !strings.HasPrefix(string(text), "HTTP/1.") {
		return fmt.Errorf("no response for %.500q: %.100q", data, text)
	}
	return errors.Join(s.takeAlarms(), s.crashed())
}

// mutated returns a request of the tables, or parts of two, with random modifications.
func mutated(source *rand.Rand, seeds []string) string {
	text := []byte(seeds[source.IntN(len(seeds))])
	if source.IntN(3) == 0 {
		text = append(text, seeds[source.IntN(len(seeds))]...)
	}
	const special = "\x00\t\n\r \"%,/:;=?@[]\x7f\x80\xff0123456789aFxz"
	for range 1 + source.IntN(4) {
		at := source.IntN(len(text))
		switch source.IntN(5) {
		case 0: // replace a byte
			text[at] = special[source.IntN(len(special))]
		case 1: // insert a byte
			text = append(text[:at], append([]byte{special[source.IntN(len(special))]}, text[at:]...)...)
		case 2: // delete bytes
			text = append(text[:at], text[min(len(text), at+1+source.IntN(4)):]...)
		case 3: // duplicate a part
			text = append(text[:at], append([]byte(string(text[at/2:at])), text[at:]...)...)
		default: // append a part of another request
			other := seeds[source.IntN(len(seeds))]
			text = append(text[:at], other[source.IntN(len(other)):]...)
		}
		if len(text) == 0 {
			return " "
		}
	}
	return string(text)
}
