package represent

import "encoding/json"

// ParseSupport returns the commitment to a name: that in its metadata, in the members erc-support.who,
// erc-support.what, erc-support.when and erc-support.where; a missing one is that of the site.
func ParseSupport(text string, site Support) Support {
	var m members
	if len(text) > maxInput || json.Unmarshal([]byte(text), &m.all) != nil {
		return site
	}
	m.fold()
	for element, of := range map[string]*string{
		"who": &site.Who, "what": &site.What, "when": &site.When,
		"where": &site.Where,
	} {
		if own := first(m, []string{"erc-support." + element}, plain); own != "" {
			*of = own
		}
	}
	return site
}
