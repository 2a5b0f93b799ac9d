package chain

import (
	"errors"
	"fmt"
	"strings"
)

// Labels of users at a shared address have one format. The letters are digits and capitals without
// those that are mistaken for one another (0 O, 1 I L, U V).
const (
	LabelLetters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
	// LabelLength makes 30^8 labels: a user who mistypes one hits another's with a chance of one in
	// 600 million per user.
	LabelLength = 8
)

// CheckUserLabel returns an error unless a label has the format of labels that are given to users.
// The error never contains the label, which may be long or unprintable.
func CheckUserLabel(label string) error {
	if len(label) != LabelLength {
		return fmt.Errorf("a label has %d letters, not %d bytes", LabelLength, len(label))
	}
	for _, r := range label {
		switch {
		case 'a' <= r && r <= 'z': // senders who write another user's label in small letters mean that user
			return errors.New("a label has no small letters: those of users have capitals")
		case !strings.ContainsRune(LabelLetters, r):
			return fmt.Errorf("a label has no letter %q: its letters are %s", r, LabelLetters)
		}
	}
	return nil
}
