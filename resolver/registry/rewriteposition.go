package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// key returns the key of the position of a rewrite.
func (r *rewriting) key() string {
	what, _ := json.Marshal([]string{r.actor.Name, r.Below, r.Replace, r.With}) // texts can be marshalled
	return fmt.Sprintf("rewrite %x", sha256.Sum256(what))
}

// begin sets where the rewrite begins, or continues.
func (r *rewriting) begin(ctx context.Context) error {
	r.at = rewritePosition{Started: r.registry.Now(), Note: r.Note, Kind: KindPrefix}
	r.at.Set = ChangeSet{Kind: KindRewrite, By: r.actor.Name, Note: r.Note, Time: r.at.Started}
	head, err := r.registry.config.Store.Head(ctx)
	if err != nil {
		return fmt.Errorf("rewriting targets: %w", err)
	}
	switch r.at.AsOf = r.AsOf; {
	case r.AsOf > head:
		return fmt.Errorf("%w: there is no number %d yet: the last one is %d", ErrInvalid, r.AsOf, head)
	case r.AsOf == 0:
		r.at.AsOf = head
	}
	if r.DryRun {
		return nil
	}
	err = r.registry.config.Store.Read(ctx, func(tx Tx) (err error) {
		r.document, err = tx.Document(TableImports, r.key())
		return err
	})
	if err != nil || r.document == nil {
		return err
	}
	if err := json.Unmarshal(r.document, &r.at); err != nil {
		return fmt.Errorf("%w: how far the rewrite is: %w", ErrDamaged, err)
	}
	r.at.Continued = true
	return nil
}

// isAlone returns ErrConflict where another process does the same.
func (r *rewriting) isAlone(tx Tx) error {
	if r.DryRun {
		return nil
	}
	document, err := tx.Document(TableImports, r.key())
	if err == nil && !bytes.Equal(document, r.document) {
		err = fmt.Errorf("%w: the same rewrite is being done by another process", ErrConflict)
	}
	return err
}

// putPosition records how far the rewrite is; at its end that is removed.
func (r *rewriting) putPosition(tx WriteTx, p *rewritePosition) (document []byte, err error) {
	if r.DryRun {
		return nil, nil
	}
	if !p.Done {
		if document, err = json.Marshal(p); err != nil {
			return nil, fmt.Errorf("recording how far the rewrite is: %w", err)
		}
	}
	return document, tx.Put(TableImports, []Document{{Key: r.key(), Value: document}})
}

// write calls f in a transaction, which writes nothing in a dry run. One is not canceled.
func (r *rewriting) write(ctx context.Context, f func(WriteTx) error) error {
	store := r.registry.config.Store
	if r.DryRun {
		return store.Read(ctx, func(tx Tx) error { return f(ReadOnly(tx)) })
	}
	return store.Write(context.WithoutCancel(ctx), f)
}
