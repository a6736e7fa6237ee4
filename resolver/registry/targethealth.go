package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Health is what is kept of the health of a target of a name: see resolver/registry/health.
type Health struct {
	Name, URI string
	State     string
	Since     time.Time // since when it has the state
	Checked   time.Time // when it was checked last
	Failures  int       // in a row
	Error     string    // of the last check
	Moved     string    // where it has moved for good
	Detail    []byte    // what else is kept, in JSON
}

// HealthKey is the key of a target of a name. Hash stands for its URI, which may be too long for an index.
type HealthKey struct{ Name, Hash string }

// HealthKeyOf returns the key of a target.
func HealthKeyOf(name, uri string) HealthKey {
	sum := sha256.Sum256([]byte(uri))
	return HealthKey{name, hex.EncodeToString(sum[:12])}
}

// HealthTx reads the health of targets.
type HealthTx interface {
	// Health returns at most limit targets of names that begin with prefix, in the order of their keys: those after a key, with a state; ""
	// is any.
	Health(prefix string, after HealthKey, state string, limit int) ([]Health, error)
	// HealthOf returns what is kept of a target; the zero value for nothing.
	HealthOf(key HealthKey) (Health, error)
}

// HealthWriteTx changes the health of targets.
type HealthWriteTx interface {
	// PutHealth sets what is kept of a target.
	PutHealth(h Health) error
	// RemoveHealth removes what is kept of a target, and ForgetHealth that of all targets of a name.
	RemoveHealth(key HealthKey) error
	ForgetHealth(name string) error
}
