package status

import "slices"

// NoLimits is a condition of the configuration: the signer has no limits. `gatewayd status` and the
// console show it. Health and metrics do not, as strangers may read them.
const NoLimits Kind = "no_limits"

var noLimits = KindInfo{
	NoLimits, "no limits", "未设限额",
	"set `signer.limits` in the signer's configuration: per payment, user, hour and day (docs/operations/limits.md)",
	"在签名器配置中设置 `signer.limits`：按每笔、每用户、每小时和每天限额（docs/operations/limits.md）",
}

// Unlimited is the condition of a signer without limits.
func Unlimited() Condition {
	return Condition{Kind: NoLimits, Detail: "no limits are configured: the signer pays any amount that the records prove"}
}

// AllKinds returns the table of all kinds, with those that monitoring does not report.
func AllKinds() []KindInfo { return append(slices.Clone(kinds), noLimits) }
