package registry

import (
	"fmt"
	"strings"
)

// aliases checks that what is known as an alias is one.
func (v *verifier) aliases(tx Tx) error {
	for after := ""; ; {
		documents, err := tx.Documents(TableAliases, "", after, verifyPage)
		if err != nil {
			return err
		}
		keys := make([]Key, len(documents))
		for i, d := range documents {
			after = d.Key
			_, alias, _ := strings.Cut(d.Key, " ") // which no canonical name has
			keys[i] = Name(alias)
		}
		entries, err := tx.Entries(keys)
		if err != nil {
			return err
		}
		for i, d := range documents {
			name, alias, _ := strings.Cut(d.Key, " ")
			if entries[i].Alias != name {
				v.report(fmt.Sprintf("%s: %s is known as an alias of it, and is not", name, alias))
			}
		}
		if len(documents) < verifyPage {
			return nil
		}
	}
}

// compareTotals compares what is counted with what was counted now.
func (v *verifier) compareTotals(tx Tx) error {
	stored, err := TotalsOf(tx)
	if err != nil {
		return err
	}
	for group, found := range v.totals {
		if stored[group] != *found {
			v.report(fmt.Sprintf("%s: the totals say %+v, and there are %+v", group, stored[group], *found))
		}
		delete(stored, group)
	}
	for group, t := range stored {
		if t != (Totals{}) {
			v.report(fmt.Sprintf("%s: the totals say %+v, and there is nothing", group, t))
		}
	}
	return nil
}
