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
	name    string // what is wrong with it
	section string // of the document that it was written from
	shows   string // what is sent, for the report
	// play sends it, and returns why urnd did not survive it, nil where it did.
	play func(ctx context.Context) error
}

// patience bounds one payload, however slow the machine is.
const patience = 30 * time.Second

// verdict is how urnd came through one payload.
type verdict struct {
	payload
	fault error // nil where it survived
	took  time.Duration
}

// judge plays a payload. A peer of ours that panics is a fault of the program, and is
// reported as one.
func (p payload) judge(ctx context.Context) (v verdict) {
	began := time.Now()
	v.payload = p
	defer func() {
		if r := recover(); r != nil {
			v.fault = fmt.Errorf("the payload itself panicked: %v", r)
		}
		v.took = time.Since(began)
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v.fault = p.play(ctx)
	return v
}

// String describes the failure of a payload.
func (v verdict) String() string {
	const most = 1200
	shows := v.shows
	if len(shows) > most {
		shows = shows[:most] + fmt.Sprintf("... (%d octets)", len(v.shows))
	}
	return fmt.Sprintf("%s: %s (%s)\n    sent: %s\n    why:  %v", v.family, v.name, v.section, strconv.QuoteToASCII(shows), v.fault)
}

// inFamily gives payloads the name of their family.
func inFamily(name string, payloads []payload) []payload {
	for i := range payloads {
		payloads[i].family = name
	}
	return payloads
}
