package service

import (
	"fmt"

	"github.com/urnd/urnd/resolver/registry"
)

// Use is a kind of use of a registry that requires permission. The zero value is none of them.
type Use uint8

// The uses.
const (
	ToVisit Use = iota + 1 // pages that show nothing but what the actor may read
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
func (u Use) needs(kind registry.Kind) (registry.Role, registry.Action) {
	change := registry.Key{Kind: kind}.Needs()
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

// Check returns ErrDenied if an actor may not make a use of any name or prefix.
func (u Use) Check(actor registry.Actor, kind registry.Kind) error {
	role, action := u.needs(kind)
	switch {
	case actor.Role < role:
		return fmt.Errorf("%w: %s has the role %s, this requires %s", registry.ErrDenied, actor.Name, actor.Role, role)
	case action == "":
		return nil
	default:
		return actor.Does(action)
	}
}

// CheckKey returns ErrDenied if an actor may not make a use of a key.
func (u Use) CheckKey(actor registry.Actor, key registry.Key) error {
	role, action := u.needs(key.Kind)
	if err := actor.May(role, key); err != nil || action == "" {
		return err
	}
	return actor.Does(action)
}

// CheckAll returns ErrDenied unless an actor may make a use of all names, as for a change set, which may
// contain any name.
func (u Use) CheckAll(actor registry.Actor) error { return u.CheckKey(actor, registry.Key{}) }
