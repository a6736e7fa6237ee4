package registry

import (
	"fmt"
	"slices"
	"strings"
)

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
		return fmt.Errorf("%w: %.40q is not an action: there are read, change, withdraw, mint, import, purge and tokens", ErrInvalid, text)
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
