// Package owner lets commands of root act as the user that a file belongs to.
package owner
