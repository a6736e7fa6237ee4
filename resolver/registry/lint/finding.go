package lint

import (
	"fmt"

	"github.com/urnd/urnd/resolver/registry"
)

// Severity says how bad a finding is.
type Severity uint8

// The severities.
const (
	Hint    Severity = iota // it may be meant so
	Warning                 // it works, and should be looked at
	Error                   // clients get no answer, or a wrong one
)

var severityNames = [...]string{"hint", "warning", "error"}

// String returns the severity as one word.
func (s Severity) String() string { return severityNames[s] }

// MarshalText implements encoding.TextMarshaler.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one thing that is wrong or doubtful with an entry.
type Finding struct {
	Key      registry.Key
	Severity Severity
	What     string // for people
	Rule     string // one of the rules of this package
}

// String returns the finding as one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s (%s)", f.Key, f.Severity, f.What, f.Rule)
}

// The rules.
const (
	ruleName        = "name"           // it is not valid, or not by the rules of its namespace
	ruleCanonical   = "canonical"      // its canonical name is another one, so that nobody reaches it
	ruleNotAsked    = "not-asked"      // the registry is not asked for it
	ruleLevel       = "level"          // an identifier in a web address has no default link, or is registered where none is asked for
	ruleRecord      = "record"         // what is registered of it is not valid
	ruleEquivalent  = "equivalent"     // another name of the same resource is registered apart
	ruleTarget      = "target"         // a target is not a URI that its scheme allows
	ruleScheme      = "target-scheme"  // it has a scheme that is not allowed
	ruleNormal      = "target-normal"  // it is not in its normal form
	ruleUserinfo    = "target-user"    // it has a user name or password
	ruleHTTP        = "target-http"    // it is not protected by TLS
	ruleNoTarget    = "no-target"      // the name leads nowhere
	ruleExpired     = "target-expired" // a target is not valid any more
	ruleShared      = "target-shared"  // another name has the same only target
	ruleChain       = "chain"          // it leads to another name that is registered
	ruleLoop        = "loop"           // it leads back to itself
	ruleAlias       = "alias"          // what it is an alias of is not there, or withdrawn
	ruleSuccessor   = "successor"      // a successor is not there, or withdrawn
	ruleRedundant   = "redundant"      // a shorter prefix does the same
	ruleHidesSystem = "hides-rules"    // the rules of the namespace are not asked any more
)
