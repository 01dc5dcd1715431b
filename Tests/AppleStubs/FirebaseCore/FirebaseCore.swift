// The symbols of Firebase that the app of Examples uses. The client itself uses none.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public class FirebaseApp: NSObject {
    public class func configure() {}
}
