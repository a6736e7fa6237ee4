package registry

import "errors"

// MaxAliases limits the length of a chain of aliases.
const MaxAliases = 8

// Limits of the search for chains that end at a name: aliases that are read in one query, and those that are read before
// the name is refused as an alias, since the search blocks other writers.
const chainPage, maxSearched = 1000, 10_000

// checkAlias returns ErrInvalid if an alias would create a cycle, or a chain of more than MaxAliases: behind the
// alias, or before the key, whose own aliases would no longer resolve. before is the entry of the key; what already
// refers to it is not checked again if its alias stays.
func (b *Batch) checkAlias(before *Entry, key Key, alias string) error {
	stays := before.Alias == alias
	for length := range MaxAliases {
		if alias == key.Name {
			return Invalid("alias_of_itself", "alias", "alias loop: %s would resolve to itself", key)
		}
		e, err := b.Get(Name(alias))
		if err != nil {
			return err
		}
		if e.Alias != "" {
			alias = e.Alias
			continue
		}
		if stays {
			return nil
		}
		left := maxSearched
		exceeds, err := b.hasChain(key.Name, MaxAliases-length, &left)
		switch {
		case err == nil && left <= 0:
			err = Invalid("alias_chain_long", "alias",
				"alias chain too long to check: more than %d names are aliases of %s: make them aliases of %s first",
				maxSearched, key, alias)
		case err == nil && exceeds:
			err = Invalid("alias_chain_long", "alias",
				"alias chain too long: aliases of %s would begin a chain of more than %d aliases", key, MaxAliases)
		}
		return err
	}
	return Invalid("alias_chain_long", "alias", "alias chain too long: %s would end a chain of more than %d aliases",
		key, MaxAliases)
}

// hasChain reports whether a chain of that many aliases ends at a name, with the pending changes. It returns early when
// left names were read, and then left is not positive.
func (b *Batch) hasChain(name string, length int, left *int) (bool, error) {
	if length == 0 {
		return true, nil
	}
	for _, alias := range b.aliases[name] {
		if is, err := b.refers(alias, name, length, left); is || err != nil {
			return is, err
		}
	}
	for after := ""; ; {
		page, err := b.tx.Aliases(name, after, chainPage)
		if err != nil {
			return false, err
		}
		for _, alias := range page {
			if is, err := b.refers(alias, name, length, left); is || err != nil {
				return is, err
			}
		}
		if len(page) < chainPage || *left <= 0 {
			return false, nil
		}
		after = page[len(page)-1]
	}
}

// refers reports whether a chain of that many aliases ends at a name by an alias, unless that refers elsewhere by a
// pending change.
func (b *Batch) refers(alias, name string, length int, left *int) (bool, error) {
	if *left--; *left <= 0 {
		return false, nil
	}
	if at, ok := b.index[Name(alias)]; ok && b.known[at].change >= 0 {
		if b.changes[b.known[at].change].After.Alias != name {
			return false, nil
		}
	}
	return b.hasChain(alias, length-1, left)
}

// IsOfAliases reports whether an error depends on the aliases of other names. A later change of the same transaction
// may set these: an alias and its target are swapped, or a chain is reversed.
func IsOfAliases(err error) bool {
	var is *Error
	return errors.As(err, &is) && (is.Code == "alias_of_itself" || is.Code == "alias_chain_long")
}
