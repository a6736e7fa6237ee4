package httpcache

// Purge makes all variants of a URI to be validated before they are used again, and returns how many
// there were. What arrives now is not stored. The key is a canonical URI.
func (c *Cache) Purge(key string) (variants int) {
	if e := c.entry(key); e != nil {
		variants = len(e.variants)
	}
	c.invalidate(key)
	return variants
}
