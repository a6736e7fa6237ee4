package service

import (
	"fmt"

	"github.com/urnd/urnd/resolver/registry"
)

// Permission is a kind of use of a registry that requires permission. The zero value is none of them.
type Permission uint8

// The uses.
const (
	ToVisit Permission = iota + 1 // pages that show nothing but what the actor may read
	ToRead
	ToChange
	ToWithdraw
	ToMint
	ToImport
	ToPurge
	ToRedact
	ToRevert
	ToManageTokens
)

// needs returns the role and the action that a use of names or prefixes requires; "" is no action.
func (u Permission) needs(kind registry.Kind) (registry.Role, registry.Action) {
	change := registry.Key{Kind: kind}.RequiredRole()
	switch u {
	case ToVisit:
		return registry.Reader, ""
	case ToRead:
		return registry.Reader, registry.ActRead
	case ToChange:
		return change, registry.ActChange
	case ToWithdraw:
		return change, registry.ActWithdraw
	case ToMint:
		return registry.Writer, registry.ActMint
	case ToImport:
		return registry.Writer, registry.ActImport
	case ToPurge, ToRedact:
		return registry.Admin, registry.ActPurge
	case ToRevert:
		return registry.Admin, registry.ActChange
	default:
		return registry.Admin, registry.ActTokens
	}
}

// Check returns ErrDenied if the role or the allowed actions of an actor exclude a use, whatever the name or prefix.
// It ignores the prefixes that the actor is restricted to: CheckKey decides about a name or a prefix.
func (u Permission) Check(actor registry.Actor, kind registry.Kind) error {
	role, action := u.needs(kind)
	switch {
	case actor.Role < role:
		return fmt.Errorf("%w: %s has the role %s, this requires %s", registry.ErrDenied, actor.Name, actor.Role, role)
	case action == "":
		return nil
	default:
		return actor.CheckAction(action)
	}
}

// CheckKey returns ErrDenied if an actor may not make a use of a key.
func (u Permission) CheckKey(actor registry.Actor, key registry.Key) error {
	role, action := u.needs(key.Kind)
	if err := actor.CheckRole(role, key); err != nil || action == "" {
		return err
	}
	return actor.CheckAction(action)
}

// CheckAll returns ErrDenied unless an actor may make a use of all names, as for a change set, which may
// contain any name.
func (u Permission) CheckAll(actor registry.Actor) error { return u.CheckKey(actor, registry.Key{}) }
