// The symbols of Firebase that the app of Examples uses. The client itself uses none.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public class Messaging: NSObject {
    public class func messaging() -> Messaging { Messaging() }
    public weak var delegate: (any MessagingDelegate)?
    public var apnsToken: Data?
}

public protocol MessagingDelegate: NSObjectProtocol {
    func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?)
}
