package lint

import (
	"fmt"

	"github.com/urnd/urnd/resolver/registry"
)

// Severity is the severity of a finding.
type Severity uint8

// The severities.
const (
	Hint    Severity = iota // it may be intended
	Warning                 // it works, but should be reviewed
	Error                   // clients get an error, or a wrong response
)

var severityNames = [...]string{"hint", "warning", "error"}

// String returns the severity as one word.
func (s Severity) String() string { return severityNames[s] }

// MarshalText implements encoding.TextMarshaler.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is an error or a likely mistake in an entry.
type Finding struct {
	Key      registry.Key
	Severity Severity
	Message  string // a message for users
	Rule     string // one of the rules of this package
}

// String returns the finding as one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s (%s)", f.Key, f.Severity, f.Message, f.Rule)
}

// The rules.
const (
	ruleName      = "name"      // invalid, or not allowed by the rules of its namespace
	ruleCanonical = "canonical" // not canonical, so that no request reaches the entry
	ruleNotOwned  = "not-owned" // outside the owned prefixes
	// ruleLevel: an identifier in a web address without a default link, or registered at an unused level.
	ruleLevel       = "level"
	ruleRecord      = "record"         // the record is invalid
	ruleEquivalent  = "equivalent"     // an equivalent name is registered separately
	ruleTarget      = "target"         // a target is not a valid URI of its scheme
	ruleScheme      = "target-scheme"  // a target has a disallowed scheme
	ruleNormal      = "target-normal"  // a target is not normalized
	ruleUserinfo    = "target-user"    // a target has a user name or password
	ruleHTTP        = "target-http"    // a target is not protected by TLS
	ruleNoTarget    = "no-target"      // an active name without target
	ruleExpired     = "target-expired" // an expired target
	ruleShared      = "target-shared"  // another name has the same only target
	ruleChain       = "chain"          // a target resolves to another registered name
	ruleLoop        = "loop"           // an entry resolves to itself
	ruleAlias       = "alias"          // a dangling alias: the name is missing or withdrawn
	ruleSuccessor   = "successor"      // a successor is missing or withdrawn
	ruleRedundant   = "redundant"      // a shorter prefix has the same effect
	ruleHidesSystem = "hides-rules"    // the prefix hides the rules of the namespace
)
