package registry

import (
	"fmt"
	"slices"
	"strings"
)

// Role is what somebody may do. Each may do what those before it may.
type Role uint8

// The roles.
const (
	Reader Role = iota + 1
	Writer      // changes names
	Admin       // changes prefixes, purges sandboxes, and manages tokens
)

var roleNames = [...]string{Reader: "reader", Writer: "writer", Admin: "admin"}

// String returns the role as one word, "" for the zero value.
func (r Role) String() string { return roleNames[r] }

// MarshalText implements encoding.TextMarshaler.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Role) UnmarshalText(text []byte) error {
	for i, name := range roleNames {
		if i != 0 && name == string(text) {
			*r = Role(i)
			return nil
		}
	}
	return Invalid("token_role", "role", "%q is not a role: it is reader, writer or admin", text)
}

// Needs returns the role that changing a key needs.
func (k Key) Needs() Role {
	if k.Kind == KindPrefix {
		return Admin
	}
	return Writer
}

// AdministratorName is the name, in the history, of who needs no token of the registry.
const AdministratorName = "admin"

// Actor is who reads or changes entries.
type Actor struct {
	Name string
	Role Role
	// Prefixes are what the names begin with that the actor may read and change; nil is all.
	Prefixes []string
	// Actions are what the actor may do of what its role may; nil is all.
	Actions []Action `json:",omitempty"`
	// Token, Client and Request say for the audit how the actor came: the ID of a token, the address
	// of a client, the identifier of a request; "" where there is none.
	Token, Client, Request string
}

// May returns ErrDenied unless the actor has a role for a key.
func (a Actor) May(role Role, key Key) error {
	what := "change"
	if role == Reader {
		what = "read"
	}
	if a.Role < role {
		return fmt.Errorf("%w: %s may not %s %s", ErrDenied, a.Name, what, key)
	}
	if a.Prefixes == nil {
		return nil
	}
	for _, prefix := range a.Prefixes {
		if strings.HasPrefix(key.Name, prefix) {
			return nil
		}
	}
	return &Error{
		Class: ErrDenied, Code: "outside_prefixes", Values: []string{"Prefixes", strings.Join(a.Prefixes, ", ")},
		Reason: fmt.Errorf("%s may not %s %s, only what begins with %s", a.Name, what, key, strings.Join(a.Prefixes, " or ")),
	}
}

// Action is a kind of thing that somebody does by the API.
type Action string

// The actions. What they are about is decided by the Role and the prefixes.
const (
	ActRead     Action = "read"     // names, their history, jobs, statistics and health
	ActChange   Action = "change"   // single names
	ActWithdraw Action = "withdraw" // single names, also in favour of others
	ActMint     Action = "mint"
	ActImport   Action = "import" // also what changes and withdraws
	ActPurge    Action = "purge"
	ActTokens   Action = "tokens" // makes, lists and revokes them
)

// Actions returns all actions.
func Actions() []Action {
	return []Action{ActRead, ActChange, ActWithdraw, ActMint, ActImport, ActPurge, ActTokens}
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Action) UnmarshalText(text []byte) error {
	if !slices.Contains(Actions(), Action(text)) {
		return Invalid("token_action", "actions", "%.40q is not an action: there are read, change, withdraw, mint, import, purge and tokens", text).With("Name", string(text))
	}
	*a = Action(text)
	return nil
}

// Does returns ErrDenied unless the actor may do what an action is.
func (a Actor) Does(action Action) error {
	if a.Actions == nil || slices.Contains(a.Actions, action) {
		return nil
	}
	return fmt.Errorf("%w: %s may not %s, its token is for other actions", ErrDenied, a.Name, action)
}

// Holds reports whether what another actor may do is a part of what this one may do.
func (a Actor) Holds(other Actor) bool {
	within := func(prefix string) bool {
		return slices.ContainsFunc(a.Prefixes, func(own string) bool { return strings.HasPrefix(prefix, own) })
	}
	foreign := func(prefix string) bool { return !within(prefix) }
	may := func(action Action) bool { return a.Does(action) == nil }
	switch {
	case other.Role > a.Role:
		return false
	case a.Prefixes != nil && (len(other.Prefixes) == 0 || slices.ContainsFunc(other.Prefixes, foreign)):
		return false
	case a.Actions != nil && len(other.Actions) == 0:
		return false
	default:
		return !slices.ContainsFunc(other.Actions, func(action Action) bool { return !may(action) })
	}
}
