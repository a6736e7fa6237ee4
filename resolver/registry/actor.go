package registry

import (
	"fmt"
	"slices"
	"strings"
)

// Role is a level of permission. Each role includes the permissions of the lower ones.
type Role uint8

// The roles.
const (
	Reader Role = iota + 1
	Writer      // may change names
	Admin       // may change prefixes, purge sandboxes and manage tokens
)

var roleNames = [...]string{Reader: "reader", Writer: "writer", Admin: "admin"}

// String returns the role as a single word, "" for the zero value.
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
	return Invalid("token_role", "role", "invalid role %q: use reader, writer or admin", text)
}

// RequiredRole returns the role that is required to change a key.
func (k Key) RequiredRole() Role {
	if k.Kind == KindPrefix {
		return Admin
	}
	return Writer
}

// AdministratorName is the author, in the history, of changes made without a token of the registry.
const AdministratorName = "admin"

// Actor is the author of changes or the reader of entries, with its permissions.
type Actor struct {
	Name string
	Role Role
	// Prefixes restrict the actor to names that begin with one of them; nil is all names.
	Prefixes []string
	// Actions restrict the actions that the role permits; nil is all of them.
	Actions []Action `json:",omitempty"`
	// Token, Client and Request identify the actor in the audit: the ID of a token, the address of a client,
	// the identifier of a request; "" if not applicable.
	Token, Client, Request string
}

// CheckRole returns ErrDenied unless the actor has a role for a key.
func (a Actor) CheckRole(role Role, key Key) error {
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
		Reason: fmt.Errorf("%s may not %s %s: the token is limited to %s", a.Name, what, key,
			strings.Join(a.Prefixes, " or ")),
	}
}

// Action is a kind of operation of the API.
type Action string

// The actions. The names and prefixes to which they apply are limited by Role and Prefixes.
const (
	ActRead     Action = "read"     // read names, their history, jobs, statistics and health
	ActChange   Action = "change"   // change single names
	ActWithdraw Action = "withdraw" // withdraw single names, also in favour of successors
	ActMint     Action = "mint"
	ActImport   Action = "import" // includes changes and withdrawals
	ActPurge    Action = "purge"
	ActTokens   Action = "tokens" // create, list and revoke tokens
)

// Actions returns all actions.
func Actions() []Action {
	return []Action{ActRead, ActChange, ActWithdraw, ActMint, ActImport, ActPurge, ActTokens}
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Action) UnmarshalText(text []byte) error {
	if !slices.Contains(Actions(), Action(text)) {
		return Invalid("token_action", "actions",
			"invalid action %.40q: use read, change, withdraw, mint, import, purge or tokens", text).With("Name",
			string(text))
	}
	*a = Action(text)
	return nil
}

// CheckAction returns ErrDenied unless the actor is permitted an action.
func (a Actor) CheckAction(action Action) error {
	if a.Actions == nil || slices.Contains(a.Actions, action) {
		return nil
	}
	return fmt.Errorf("%w: %s may not %s: not an action of its token", ErrDenied, a.Name, action)
}

// Includes reports whether the permissions of other are a subset of those of a.
func (a Actor) Includes(other Actor) bool {
	within := func(prefix string) bool {
		return slices.ContainsFunc(a.Prefixes, func(own string) bool { return strings.HasPrefix(prefix, own) })
	}
	foreign := func(prefix string) bool { return !within(prefix) }
	may := func(action Action) bool { return a.CheckAction(action) == nil }
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
