// Package devices contains keys of tests outside the program: a passkey authenticator in software,
// and tokens of SoftHSM2, in programs built with the tag pkcs11.
package devices
