package gateway

import "crypto/rand"

// labelLetters are digits and capitals without those that are mistaken for one another (0 O, 1 I L, U V).
const labelLetters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

// labelLength makes 30^8 labels: a user who mistypes one hits another's with a chance of one in 600 million per user.
const labelLength = 8

// randomLabel makes a label for a user of a shared address. The store asks again while it is taken.
func randomLabel() string {
	label := make([]byte, 0, labelLength)
	for one := make([]byte, 1); len(label) < labelLength; {
		rand.Read(one) // never fails
		if i := one[0] & 31; int(i) < len(labelLetters) {
			label = append(label, labelLetters[i])
		}
	}
	return string(label)
}
