package registry

import "fmt"

// PurgeKeys removes all versions of keys, but for the hashes of their leaves, and writes that they were purged. Registry.Purge does it
// for those who may, and knows what else must change with them.
func PurgeKeys(tx WriteTx, keys []Key) error {
	_, err := write(tx, nil, keys, 0)
	return err
}

// purgeVersions removes all versions of a key, but for the hashes of their leaves.
func purgeVersions(tx WriteTx, key Key) error {
	var rows []Row
	for before := Seq(0); ; {
		page, err := tx.Versions(key, before, versionsPage)
		if err != nil {
			return err
		}
		for _, e := range page {
			row, err := rowAt(tx, e.Seq)
			if err == nil {
				row, err = row.purged()
			}
			if err != nil {
				return err
			}
			rows = append(rows, row)
			before = e.Seq
		}
		if len(page) < versionsPage {
			return tx.Rewrite(rows)
		}
	}
}

// rowAt returns the row of a Seq.
func rowAt(tx Tx, seq Seq) (Row, error) {
	rows, err := tx.Rows(seq-1, 1)
	if err == nil && (len(rows) == 0 || rows[0].Seq != seq) {
		err = fmt.Errorf("%w: number %d is missing", ErrDamaged, seq)
	}
	if err != nil {
		return Row{}, err
	}
	return rows[0], nil
}
