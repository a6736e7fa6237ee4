package testserver

import "testing"

// Press presses and releases a key with user activation: "Tab" or "Enter".
func (c *Chromium) Press(t testing.TB, key string) {
	t.Helper()
	event := map[string]any{"type": "keyDown", "key": key, "code": key}
	switch key {
	case "Tab":
		event["windowsVirtualKeyCode"] = '\t'
	case "Enter":
		event["windowsVirtualKeyCode"], event["text"] = '\r', "\r"
	default:
		t.Fatalf("there is no key %s", key)
	}
	c.call(t, "Input.dispatchKeyEvent", event, nil)
	event["type"] = "keyUp"
	delete(event, "text")
	c.call(t, "Input.dispatchKeyEvent", event, nil)
}

// Type enters text at the focus.
func (c *Chromium) Type(t testing.TB, text string) {
	t.Helper()
	c.call(t, "Input.insertText", map[string]any{"text": text}, nil)
}
