// The types of Apple's Core Foundation in the signatures of Security and Image I/O. On Apple's systems they come with Foundation, and are
// bridged from its types; here they are the types that they are bridged from.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public typealias CFTypeRef = AnyObject
public typealias CFString = String
public typealias CFDictionary = [String: Any]
public typealias CFData = Data
public typealias CFMutableData = NSMutableData
public typealias CFURL = URL
public typealias CFError = NSError
