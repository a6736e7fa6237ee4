package registry

import (
	"context"
	"fmt"
)

// A redaction removes the targets, metadata and contact of versions permanently: from the history, from results
// as of a time, and from later exports and backups. Its time, author and reason are retained, and so is the
// digest of the removed data. The redaction itself is an event of the registry.

// Redact removes the targets, metadata and contact of versions of a key, as a change set of its own. It returns
// how many versions it has redacted, without those that were redacted before. The current version of an active
// name cannot be redacted: the name must be changed or withdrawn first, so that the version is no longer
// current.
func (r *Registry) Redact(
	ctx context.Context, actor Actor, key Key, versions []int, reason string,
) (redacted int, err error) {
	if key, err = r.mayRedact(actor, key, reason); err != nil {
		return 0, err
	}
	var changes []Changed
	err = r.config.Store.Write(ctx, func(tx WriteTx) error {
		found, err := versionsWith(tx, key, versions)
		if err != nil {
			return err
		}
		changes = redactions(found, reason)
		if len(found) == 0 {
			return nil
		}
		if err := tx.Redact(&ChangeSet{Kind: KindRedaction, By: actor.Name, Note: reason, Time: r.Now()},
			found); err != nil {
			return err
		}
		return tx.RemoveNameHealth(key.Name)
	})
	if err != nil {
		return 0, err
	}
	if r.config.Audit != nil && len(changes) > 0 {
		r.config.Audit(ctx, actor, changes)
	}
	return len(changes), nil
}

// mayRedact returns the canonical key, or an error if the actor may not redact it or the reason is missing.
func (r *Registry) mayRedact(actor Actor, key Key, reason string) (Key, error) {
	key, err := r.CanonicalKey(key)
	if err != nil {
		return Key{}, err
	}
	if err := actor.CheckRole(Admin, key); err != nil {
		return Key{}, err
	}
	if reason == "" {
		return Key{}, Invalid("redaction_reason_missing", "reason",
			"redacting %s requires a reason, which remains visible", key)
	}
	if err := CheckText("reason", reason, MaxText); err != nil {
		return Key{}, fmt.Errorf("%s: %w", key, err)
	}
	return key, nil
}

// redactions returns the redactions of versions as changes.
func redactions(found []Entry, reason string) []Changed {
	changes := make([]Changed, len(found))
	for i := range found {
		after := found[i]
		after.Targets, after.Metadata, after.Contact, after.Redacted, after.Note = nil, "", "", true, reason
		changes[i] = Changed{found[i], after}
	}
	return changes
}

// versionsWith returns the versions of a key with the given numbers, without those that are already redacted.
// It fails if a version does not exist, or is the current one and active.
func versionsWith(tx Tx, key Key, numbers []int) (found []Entry, err error) {
	wanted := make(map[int]bool, len(numbers))
	for _, n := range numbers {
		wanted[n] = true
	}
	current := true
	for before := Seq(0); ; {
		page, err := tx.Versions(key, before, versionsPage)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			before = e.Seq
			if wanted[e.Version] {
				delete(wanted, e.Version)
				if current && e.Status == Active {
					return nil,
						fmt.Errorf("%w: version %d of %s is current and has targets: change or withdraw it first",
							ErrConflict, e.Version, key)
				}
				if !e.Redacted {
					found = append(found, e)
				}
			}
			current = false
		}
		if len(page) < versionsPage {
			break
		}
	}
	for n := range wanted {
		return nil, fmt.Errorf("%w: version %d of %s", ErrUnknown, n, key)
	}
	return found, nil
}
