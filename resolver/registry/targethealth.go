package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Health is the stored health of a target of a name: see resolver/registry/health.
type Health struct {
	Name, URI string
	State     string
	Since     time.Time // time at which State was assumed
	Checked   time.Time // time of the last check
	Failures  int       // number of consecutive failures
	Error     string    // error of the last check
	Moved     string    // new location of a permanent redirect
	Detail    []byte    // further data, in JSON
}

// HealthKey is the key of a target of a name. Hash is a hash of its URI, which may be too long for an index.
type HealthKey struct{ Name, Hash string }

// HealthKeyOf returns the key of a target.
func HealthKeyOf(name, uri string) HealthKey {
	sum := sha256.Sum256([]byte(uri))
	return HealthKey{name, hex.EncodeToString(sum[:12])}
}

// HealthTx reads the health of targets.
type HealthTx interface {
	// Health returns at most limit targets in a state, of names that begin with prefix, in the order of their
	// keys, behind the key after; state "" is any.
	Health(prefix string, after HealthKey, state string, limit int) ([]Health, error)
	// TargetHealth returns the stored health of a target; the zero value if there is none.
	TargetHealth(key HealthKey) (Health, error)
}

// HealthWriteTx changes the health of targets.
type HealthWriteTx interface {
	// PutHealth sets the health of a target.
	PutHealth(h Health) error
	// RemoveHealth removes the health of a target, RemoveNameHealth that of all targets of a name.
	RemoveHealth(key HealthKey) error
	RemoveNameHealth(name string) error
}
