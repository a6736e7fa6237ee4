package health

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// maxWitnesses bounds the servers that are requested to find out whether the network is up.
	maxWitnesses = 3
	// maxOffline is how long failures are ignored while neither targets nor witnesses respond.
	maxOffline = 24 * time.Hour
)

// network distinguishes failing targets from a network outage, in which all targets would fail: it requests
// witnesses, servers that responded before. It is safe for concurrent use.
type network struct {
	now func() time.Time

	mu        sync.Mutex
	witnesses []string  // targets of different servers that have responded, the newest last
	since     time.Time // start of the outage; zero if there is none
}

// errOffline means that no server was reachable.
var errOffline = errors.New("neither the targets nor previously reachable servers respond: " +
	"the network seems to be down; results of targets are discarded")

// check returns errOffline if no target has responded, and no witness does.
func (n *network) check(ctx context.Context, p *prober, results []checkResult) error {
	var servers []string
	for _, c := range results {
		if c.Status != 0 {
			n.answered(c.uri)
			return nil
		}
		if c.Outcome == Failing {
			u, _ := checkable(c.uri)
			servers = append(servers, serverOf(u))
		}
	}
	if len(servers) == 0 || n.given() {
		return nil
	}
	n.mu.Lock()
	witnesses := slices.Clone(n.witnesses)
	n.mu.Unlock()
	requested := false
	for _, witness := range witnesses {
		if u, _ := checkable(witness); slices.Contains(servers, serverOf(u)) {
			continue
		}
		requested = true
		if p.check(ctx, witness).Status != 0 {
			n.answered(witness)
			return nil
		}
	}
	if !requested {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.since.IsZero() {
		n.since = n.now()
	}
	return errOffline
}

// given reports whether the outage has lasted so long that failures count again.
func (n *network) given() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.since.IsZero() && n.now().Sub(n.since) >= maxOffline
}

// answered adds a target that has responded to the witnesses, and ends an outage.
func (n *network) answered(target string) {
	u, _ := checkable(target)
	server := serverOf(u)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.since = time.Time{}
	n.witnesses = slices.DeleteFunc(n.witnesses, func(other string) bool {
		u, _ := checkable(other)
		return serverOf(u) == server
	})
	n.witnesses = append(n.witnesses, target)
	n.witnesses = n.witnesses[max(len(n.witnesses)-maxWitnesses, 0):]
}
