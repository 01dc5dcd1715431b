import FoundationEssentials

/// Makes the names that FCM gives to accepted messages; their form depends on the target and is to be taken as opaque.
enum MessageName {
    static func make(project: String, target: MessageTarget, platform: DevicePlatform?, now: Date) -> String {
        let micros = Int(now.timeIntervalSince1970 * 1_000_000)
        let id =
            switch (target.registration, platform) {
            case (nil, _): RandomText.digits(19)
            case (_, .android): "0:\(micros)%\(RandomText.hexadecimal(16))"
            // Two in the same microsecond would share a name, so the last digits are random.
            case (_, .ios), (_, nil): "\(micros / 1000)" + RandomText.digits(6)
            }
        return "projects/\(project)/messages/\(id)"
    }
}
