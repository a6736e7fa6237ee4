package registry

import "context"

// DryRunTx returns a WriteTx that discards all writes, for dry runs.
func DryRunTx(tx Tx) WriteTx { return dryRunTx{tx} }

type dryRunTx struct{ Tx }

func (dryRunTx) Append(*ChangeSet, []Changed, []Entry) error    { return nil }
func (dryRunTx) Redact(*ChangeSet, []Entry) error               { return nil }
func (dryRunTx) Put(Table, []Document) error                    { return nil }
func (dryRunTx) PutHealth(Health) error                         { return nil }
func (dryRunTx) RemoveHealth(HealthKey) error                   { return nil }
func (dryRunTx) RemoveNameHealth(string) error                  { return nil }
func (dryRunTx) AddToken(StoredToken) error                     { return nil }
func (dryRunTx) RemoveToken(string) error                       { return nil }
func (dryRunTx) SetTokenUsed(string, string) error              { return nil }
func (dryRunTx) SetMintCounter(string, uint64) error            { return nil }
func (dryRunTx) SetLease(string, LeaseHolder) error             { return nil }
func (dryRunTx) RemoveLease(string) error                       { return nil }
func (dryRunTx) AddResolutions([]ResolutionCount) error         { return nil }
func (dryRunTx) FoldResolutions([]string, string, string) error { return nil }

// Preview returns the changes that Apply would make, without their Seq, and writes nothing.
func (r *Registry) Preview(ctx context.Context, actor Actor, edits ...Edit) ([]Changed, error) {
	edits, err := r.canonicalEdits(actor, edits)
	if err != nil {
		return nil, err
	}
	return r.PreviewChange(ctx, actor, func(_ WriteTx, w *Batch) error {
		for _, edit := range edits {
			if _, err := w.edit(edit); err != nil {
				return err
			}
		}
		return nil
	})
}

// PreviewChange returns the changes that Change would make, without their Seq, and writes nothing. f may be
// called more than once.
func (r *Registry) PreviewChange(
	ctx context.Context, actor Actor, f func(tx WriteTx, w *Batch) error,
) (changes []Changed, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		w := NewBatch(DryRunTx(tx), actor.Name, r.Now())
		err := f(DryRunTx(tx), w)
		changes = w.Changes()
		return err
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// PreviewRedact returns the changes that Redact would make, and writes nothing.
func (r *Registry) PreviewRedact(
	ctx context.Context, actor Actor, key Key, versions []int, reason string,
) (changes []Changed, err error) {
	if key, err = r.mayRedact(actor, key, reason); err != nil {
		return nil, err
	}
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		found, err := versionsWith(tx, key, versions)
		changes = redactions(found, reason)
		return err
	})
	return changes, err
}
