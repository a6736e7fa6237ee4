package adversary

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// payload is one hostile input.
type payload struct {
	family  string
	name    string // describes the violation
	section string // section of the specification
	shows   string // data sent, for the report
	// play sends it, and returns why urnd did not survive it, or nil.
	play func(ctx context.Context) error
}

// waitLimit limits one payload, including slow machines.
const waitLimit = 30 * time.Second

// verdict is the result of one payload.
type verdict struct {
	payload
	failure error // nil if urnd survived
	took    time.Duration
}

// judge runs a payload. A panic of a test peer is a bug of this program, and is reported as such.
func (p payload) judge(ctx context.Context) (v verdict) {
	began := time.Now()
	v.payload = p
	defer func() {
		if r := recover(); r != nil {
			v.failure = fmt.Errorf("the payload itself panicked: %v", r)
		}
		v.took = time.Since(began)
	}()
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	v.failure = p.play(ctx)
	return v
}

// String describes the failure of a payload.
func (v verdict) String() string {
	const most = 1200
	shows := v.shows
	if len(shows) > most {
		shows = shows[:most] + fmt.Sprintf("... (%d bytes)", len(v.shows))
	}
	return fmt.Sprintf("%s: %s (%s)\n    sent: %s\n    why:  %v", v.family, v.name, v.section,
		strconv.QuoteToASCII(shows), v.failure)
}

// inFamily sets the family of payloads.
func inFamily(name string, payloads []payload) []payload {
	for i := range payloads {
		payloads[i].family = name
	}
	return payloads
}
