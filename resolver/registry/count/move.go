package count

import "github.com/urnd/urnd/resolver/registry"

// Move makes the counts of a name those of another one, to which they are added.
func Move(tx registry.WriteTx, from, to string) error {
	var documents []registry.Document
	err := eachCount(tx, from, func(period string, d registry.Document) error {
		moved, err := decodeTally(d)
		if err != nil {
			return nil //nolint:nilerr // it stays as it is, for who can read it
		}
		key := to + " " + period
		value, err := tx.Document(registry.TableCounts, key)
		if err != nil {
			return err
		}
		if there, err := decodeTally(registry.Document{Key: key, Value: value}); err == nil {
			moved = moved.plus(there)
		}
		documents = append(documents, registry.Document{Key: d.Key}, registry.Document{Key: key, Value: encodeTally(moved)})
		return nil
	})
	if err != nil || len(documents) == 0 {
		return err
	}
	return tx.Put(registry.TableCounts, documents)
}
